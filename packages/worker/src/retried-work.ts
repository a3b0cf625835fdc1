import { backoffSeconds, type Clock, type LogFields, type Logger, sleep } from '@es/coordination-core'
import type { LeaderWork } from './worker-options.js'

/** How work is started again. */
export interface RetriedWorkOptions {
  readonly longestRunPauseSeconds: number
  readonly clock: Clock
  readonly logger: Logger
  readonly random: () => number
  readonly fields: LogFields
}

/** `work` that is started again each time it throws, after growing pauses, until it returns or its signal aborts. */
export function retriedWork(work: LeaderWork, options: RetriedWorkOptions): LeaderWork {
  const { longestRunPauseSeconds: longestSeconds, clock, logger, random, fields } = options
  return async (signal, term) => {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await work(signal, term)
      } catch (error) {
        if (signal.aborted) throw error
        const retryInSeconds = backoffSeconds(failures, { firstSeconds: 1, longestSeconds, random })
        logger.error({ ...fields, error, failures, retryInSeconds }, "The leader's work failed; it is started again")
        await sleep(retryInSeconds, { clock, signal }).catch(() => {})
      }
    }
  }
}
