import {
  type Clock,
  CoordinationError,
  consoleLogger,
  invalidOption,
  type LeaderElector,
  type Logger,
  missingLeaderElectorMembers,
  requireSeconds,
  safeLogger,
  systemClock,
} from '@es/coordination-core'
import { epochOf, LeadershipLoop } from './leadership-loop.js'
import { type LeaderWork, LONGEST_SECONDS } from './worker-options.js'

/** How {@link runAsLeader} runs. */
export interface RunAsLeaderOptions {
  /** Ends it: the work is told, leadership is released once it has ended, and the call resolves. */
  readonly signal?: AbortSignal
  /** Seconds between attempts to lead, for an elector that cannot campaign, and between its renewals. @default 5 */
  readonly electionIntervalSeconds?: number
  /** @default systemClock */
  readonly clock?: Clock
  /** @default consoleLogger */
  readonly logger?: Logger
}

/**
 * Does singleton work: waits for leadership, runs `work` while this instance leads, and waits again after each loss. In one process the work of one
 * term has ended before that of the next begins; while work ignores its signal for longer than 30 seconds, leadership is left to others.
 *
 * Resolves when `work` returns while it leads, or after `signal` aborted; leadership is released then.
 *
 * @throws what `work` throws while it leads; leadership is released first, so that another instance can try.
 */
export async function runAsLeader(elector: LeaderElector, work: LeaderWork, options: RunAsLeaderOptions = {}): Promise<void> {
  const { signal, electionIntervalSeconds = 5, clock = systemClock } = options
  const missing = missingLeaderElectorMembers(elector)
  if (missing.length > 0) throw invalidOption('elector', elector, `a LeaderElector; this one lacks ${missing.join(', ')}`)
  const intervalSeconds = requireSeconds('electionIntervalSeconds', electionIntervalSeconds, { atLeast: 0.01, atMost: LONGEST_SECONDS })
  if (signal?.aborted) return
  const logger = safeLogger(options.logger ?? consoleLogger)
  let finish: (outcome: Outcome) => void = () => {}
  const finished = new Promise<Outcome>((resolve) => {
    finish = resolve
  })
  const serve = async (term: AbortSignal, epoch: bigint | null): Promise<void> => {
    if (term.aborted) return
    workingFor = term
    try {
      await work(term, epoch)
      if (!term.aborted) finish({ hasFailed: false })
    } catch (error) {
      if (!term.aborted) finish({ hasFailed: true, error })
      else if (error !== term.reason) logger.warn({ identity: elector.identity, error }, "The leader's work failed while it was ending")
    } finally {
      workingFor = null
    }
  }
  // Whoever cannot do the work must not keep others from it.
  const yieldWhileStuck = (ofTerm: AbortSignal): void => {
    if (workingFor === null || workingFor === ofTerm || ofTerm.aborted) return
    logger.error(
      { identity: elector.identity },
      "The leader's work of an earlier term does not end; leadership is left to others meanwhile",
    )
    leadership.pause(STUCK_SECONDS)
    void leadership.release(RELEASE_SECONDS)
  }

  let workingFor: AbortSignal | null = null
  let term = new AbortController()
  let served: Promise<void> = Promise.resolve()
  const endTerm = (why: string): void => term.abort(new CoordinationError('leadership_over', why))
  const leadership = new LeadershipLoop({
    ...{ elector, intervalSeconds, clock, logger },
    gained: () => {
      term = new AbortController()
      const { signal: ofTerm } = term
      const epoch = epochOf(elector)
      if (workingFor !== null) {
        const cancel = clock.setTimer(STUCK_SECONDS, () => yieldWhileStuck(ofTerm))
        ofTerm.addEventListener('abort', cancel)
      }
      served = served.then(() => serve(ofTerm, epoch))
    },
    lost: () => endTerm('Leadership was lost'),
  })

  const onAbort = (): void => finish({ hasFailed: false })
  signal?.addEventListener('abort', onAbort)
  leadership.start()
  const outcome = await finished
  signal?.removeEventListener('abort', onAbort)
  leadership.retire()
  endTerm('Leadership is given up')
  await served
  await leadership.leave(RELEASE_SECONDS)
  if (outcome.hasFailed) throw outcome.error
}

// How long the work of a term that is over may go on before others should have a chance.
const STUCK_SECONDS = 30
// An elector bounds its own calls; this is for one that does not.
const RELEASE_SECONDS = 10

type Outcome = { readonly hasFailed: false } | { readonly hasFailed: true; readonly error: unknown }
