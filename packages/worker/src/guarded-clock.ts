import { type Clock, type Logger, systemClock } from '@es/coordination-core'

/**
 * A clock on which loops can rely: one that throws answers what it answered last, timers that it cannot set are set on the machine's clock, and
 * what a timer's callback throws is logged instead of ending the process.
 */
export function guardedClock(clock: Clock, logger: Logger): Clock {
  let isFailing = false
  const guarded = <T>(read: () => T, otherwise: () => T): T => {
    try {
      const value = read()
      isFailing = false
      return value
    } catch (error) {
      if (!isFailing) logger.error({ error }, 'The clock failed; its last answer is used until it works again')
      isFailing = true
      return otherwise()
    }
  }
  let lastNow = clock.now()
  let lastMonotonic = clock.monotonicSeconds()
  return {
    now() {
      lastNow = guarded(
        () => clock.now(),
        () => lastNow,
      )
      return lastNow
    },
    monotonicSeconds() {
      lastMonotonic = guarded(
        () => clock.monotonicSeconds(),
        () => lastMonotonic,
      )
      return lastMonotonic
    },
    setTimer(delaySeconds, callback) {
      const task = (): void => {
        try {
          callback()
        } catch (error) {
          logger.error({ error }, 'A timer failed; the worker goes on')
        }
      }
      return guarded(
        () => clock.setTimer(delaySeconds, task),
        () => systemClock.setTimer(delaySeconds, task),
      )
    },
  }
}
