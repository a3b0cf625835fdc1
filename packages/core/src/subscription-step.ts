/** What is known of one subscription in one instance, at one moment. */
export interface SubscriptionFacts {
  /** Whether it should run here: assigned, not declined, and the instance is not leaving. */
  readonly isDesired: boolean
  /** The run under way: `stopping` once it was told to end, `lost` once it was told that it may write nothing more; `null` when there is none. */
  readonly run: 'running' | 'stopping' | 'lost' | null
  /** Whether the time that a run has to end is over. */
  readonly isOverdue: boolean
  /** Whether a run that was given up may still be going on. */
  readonly hasAbandonedRun: boolean
  /** Whether it may run here: the claim is held at this moment; without an ownership adapter, nobody else runs it as far as can be told. */
  readonly isOurs: boolean
  /** Whether a claim or release is under way. */
  readonly isBusy: boolean
  /** Whether a claim may be tried now, and is the way to make it ours at all. */
  readonly mayClaim: boolean
  /** Whether there is a claim to release. */
  readonly mayRelease: boolean
  /** Whether the pause after a failure is over. */
  readonly mayStart: boolean
}

/** What to do next: `stop` lets the run finish and checkpoint, `lose` does not, `abandon` waits for it no longer; `wait` until something changes. */
export type SubscriptionStep = 'claim' | 'start' | 'stop' | 'lose' | 'abandon' | 'release' | 'wait'

/**
 * The next step for one subscription. Pure; take the step, and ask again with the facts as they are then.
 *
 * - S1. Nothing runs that is not ours: a run whose claim is gone is told so at once, also when it was told to end before.
 * - S2. Nothing is released while its run goes on, unless that was abandoned at its deadline.
 * - S3. No subscription runs twice in one process, not even beside an abandoned run.
 * - S4. Nothing is claimed, and nothing starts, that is not desired.
 */
export function nextSubscriptionStep(facts: SubscriptionFacts): SubscriptionStep {
  const { isDesired, run, isOurs } = facts
  if (run !== null) {
    if (run !== 'running' && facts.isOverdue) return 'abandon'
    if (run !== 'lost' && !isOurs) return 'lose'
    return run === 'running' && !isDesired ? 'stop' : 'wait'
  }
  if (facts.isBusy) return 'wait'
  if (!isDesired || facts.hasAbandonedRun) return facts.mayRelease ? 'release' : 'wait'
  if (!isOurs) return facts.mayClaim ? 'claim' : 'wait'
  return facts.mayStart ? 'start' : 'wait'
}
