import {
  type Clock,
  type LeaderElector,
  type Logger,
  requireClock,
  requireFunction,
  requireLeaderElector,
  requireLogger,
  requireOptions,
  requireSeconds,
} from '@es/coordination-core'
import { lastWordSeconds } from './call-limits.js'
import { LeaderTask } from './leader-task.js'
import { epochOf, LeadershipLoop } from './leadership-loop.js'
import { type LeaderWork, LONGEST_SECONDS } from './worker-options.js'

/** How {@link runAsLeader} runs. */
export interface RunAsLeaderOptions {
  /** Ends it: the work is told, leadership is released once it has ended, and the call resolves. */
  readonly signal?: AbortSignal
  /** How long the work has to end after it was told to, in seconds. Keep it below the time that the platform gives a process to end. @default 30 */
  readonly drainTimeoutSeconds?: number
  /** Seconds between attempts to lead, for an elector that cannot campaign, and between its renewals. @default 5 */
  readonly electionIntervalSeconds?: number
  /** @default systemClock */
  readonly clock?: Clock
  /** @default consoleLogger */
  readonly logger?: Logger
}

/**
 * Does singleton work: waits for leadership, runs `work` while this instance leads, and waits again after each loss. In one process the work of one
 * term has ended before that of the next begins; while work ignores its signal for longer than `drainTimeoutSeconds`, leadership is left to others.
 *
 * Resolves when `work` returns while it leads, or after `signal` aborted; leadership is released then. Work that has not ended `drainTimeoutSeconds`
 * after `signal` aborted is reported and given up: it may still be running, and only its fencing token keeps it from doing harm.
 *
 * @throws what `work` throws while it leads; leadership is released first, so that another instance can try.
 * @throws CoordinationError `invalid_options` for an option that is off.
 */
export async function runAsLeader(elector: LeaderElector, work: LeaderWork, options: RunAsLeaderOptions = {}): Promise<void> {
  const { signal } = requireOptions(options)
  const clock = requireClock(options.clock)
  const logger = requireLogger(options.logger)
  requireFunction('work', work)
  requireLeaderElector('elector', elector)
  const seconds = (name: 'electionIntervalSeconds' | 'drainTimeoutSeconds', fallback: number, atLeast: number): number =>
    requireSeconds(name, options[name] ?? fallback, { atLeast, atMost: LONGEST_SECONDS })
  const intervalSeconds = seconds('electionIntervalSeconds', 5, 0.01)
  const drainTimeoutSeconds = seconds('drainTimeoutSeconds', 30, 0)
  if (signal?.aborted) return
  const fields = { identity: elector.identity }

  let finish: (failure: { readonly error: unknown } | null) => void = () => {}
  const finished = new Promise<{ readonly error: unknown } | null>((resolve) => {
    finish = resolve
  })
  const task = new LeaderTask({
    ...{ clock, logger, fields },
    async work(ofTerm, term) {
      try {
        await work(ofTerm, term)
        if (!ofTerm.aborted) finish(null)
      } catch (error) {
        if (ofTerm.aborted) throw error
        finish({ error })
      }
    },
  })
  // Whoever cannot do the work must not keep others from it.
  const yieldIfStuck = (): void => {
    if (!task.isEnding) return
    logger.error(fields, "The leader's work of an earlier term does not end; leadership is left to others meanwhile")
    leadership.pause(drainTimeoutSeconds)
    void leadership.release(lastWordSeconds(clock, clock.monotonicSeconds()))
  }
  let stopWatching = (): void => {}
  const leadership = new LeadershipLoop({
    ...{ elector, intervalSeconds, clock, logger },
    gained: () => {
      task.begin(epochOf(elector))
      if (task.isEnding) stopWatching = clock.setTimer(Math.max(drainTimeoutSeconds - task.overdueSeconds, 0), yieldIfStuck)
    },
    lost: () => {
      stopWatching()
      task.end('Leadership was lost')
    },
  })

  const onAbort = (): void => finish(null)
  signal?.addEventListener('abort', onAbort)
  leadership.start()
  const failure = await finished
  signal?.removeEventListener('abort', onAbort)
  leadership.retire()
  const deadline = clock.monotonicSeconds() + drainTimeoutSeconds
  await task.endWithin(drainTimeoutSeconds, 'Leadership is given up')
  await leadership.leave(lastWordSeconds(clock, deadline))
  if (failure !== null) throw failure.error
}
