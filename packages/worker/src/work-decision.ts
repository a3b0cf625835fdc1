/** What is known of one subscription in this instance. */
export interface WorkFacts {
  /** Whether it should run here: assigned, not declined, and the worker is not leaving. */
  readonly isDesired: boolean
  /** `null` when nothing runs; `stopping` once it was told to stop. */
  readonly run: 'running' | 'stopping' | null
  /** Whether the time that a stopping run has is over. */
  readonly isOverdue: boolean
  /** Whether a run that was given up may still be going on. */
  readonly hasAbandonedRun: boolean
  /** Whether the claim is held; without an ownership adapter, whether no other instance lists the subscription. */
  readonly isOurs: boolean
  /** Whether a claim or release is under way. */
  readonly isBusy: boolean
  /** Whether a claim may be tried now, and is the way to make it ours at all. */
  readonly mayClaim: boolean
  /** Whether there is anything to release. */
  readonly mayRelease: boolean
  /** Whether the pause after a failure is over. */
  readonly mayStart: boolean
}

/** What to do next about one subscription; `wait` until something changes. */
export type WorkStep = 'claim' | 'start' | 'stop' | 'lose' | 'abandon' | 'release' | 'wait'

/**
 * The next step for one subscription. Pure; after the step was taken and the facts have changed accordingly, ask again.
 *
 * - W1. Nothing runs that is not ours: a run whose claim is gone is told so at once.
 * - W2. Nothing is released while its run goes on, unless that was abandoned at its deadline.
 * - W3. No subscription runs twice in one process, not even beside an abandoned run.
 */
export function nextStep(facts: WorkFacts): WorkStep {
  const { isDesired, run, isOurs } = facts
  if (run !== null) {
    if (run === 'running' && !isOurs) return 'lose'
    if (run === 'running' && !isDesired) return 'stop'
    return run === 'stopping' && facts.isOverdue ? 'abandon' : 'wait'
  }
  if (facts.isBusy) return 'wait'
  if (!isDesired || facts.hasAbandonedRun) return facts.mayRelease ? 'release' : 'wait'
  if (!isOurs) return facts.mayClaim ? 'claim' : 'wait'
  return facts.mayStart ? 'start' : 'wait'
}
