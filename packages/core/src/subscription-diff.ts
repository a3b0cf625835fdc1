import { IDLE_SUBSCRIPTION, type SubscriptionState } from './subscription-diff-state.js'

/** What {@link diffSubscriptions} looks at. */
export interface SubscriptionDiffInput {
  /** The full set that this instance should own, as last assigned. Ignored while shutting down. */
  readonly desired: ReadonlySet<string>
  /** Where each subscription stands that is not idle; see `afterSubscriptionEvent`. */
  readonly states: ReadonlyMap<string, SubscriptionState>
  /** Whether this instance is leaving: then nothing is wanted any more, and nothing new is claimed or started. */
  readonly isShuttingDown: boolean
  /** Now, in seconds of the monotonic clock. */
  readonly nowSeconds: number
  /**
   * Who makes sure that nobody else runs the same: claims, or where there is no ownership adapter the cooperative rule, with the subscriptions
   * that another instance reports as its own or may still be running.
   */
  readonly exclusivity: { readonly kind: 'claims' } | { readonly kind: 'cooperative'; readonly reportedElsewhere: ReadonlySet<string> }
}

/** How a run is ended: it may finish and checkpoint (`revoke`), or its claim is gone and it may not (`abort`). */
export type StopManner = 'revoke' | 'abort'

/**
 * Why nothing can be done about a subscription for now:
 * `claim_answer`, `release_answer` the backend has not answered yet · `run_to_settle` the run has not ended yet · `retry` it is too soon after a
 * denied claim or a failed run · `other_owner` another instance still reports it.
 */
export type WaitingFor = 'claim_answer' | 'release_answer' | 'run_to_settle' | 'retry' | 'other_owner'

/** A subscription that waits. */
export interface WaitingSubscription {
  readonly subscription: string
  readonly for: WaitingFor
  /** When waiting ends by itself, in seconds of the monotonic clock; null when only an event ends it. */
  readonly untilSeconds: number | null
}

/**
 * What to do now, to be carried out in the order of these fields; each list is in code-unit order. Plain and frozen. A subscription is in one
 * list at most, except that one may be given up and released.
 */
export interface SubscriptionDiff {
  /** Runs to ask to end. */
  readonly stop: readonly { readonly subscription: string; readonly how: StopManner }[]
  /** Runs that have not ended in time: report them, and wait for them no longer. */
  readonly giveUp: readonly string[]
  /** Claims to let go of. */
  readonly release: readonly string[]
  /** Claims to ask for. */
  readonly claim: readonly string[]
  /** Runs to start. */
  readonly start: readonly string[]
  /** What is under way or held up, and why: the answer to "why am I idle?". */
  readonly waiting: readonly WaitingSubscription[]
  /** When to ask again even if nothing happens, in seconds of the monotonic clock; null when only an event can change the answer. */
  readonly nextDueAtSeconds: number | null
}

/**
 * Compares what this worker should own with what it does, and says what to do. Pure; ask again after every event. The rules, in the order of
 * their weight:
 *
 * - R1. With claims, nothing runs without a claim that is held: a run without one is aborted at once, even if it was revoked before.
 * - R2. Nothing starts, and nothing is claimed, while an earlier run of the same subscription has not settled, given up or not.
 * - R3. A claim is not released while its run has not settled, unless the run was given up at its deadline.
 * - R4. While shutting down nothing is claimed and nothing is started.
 * - R5. What is not wanted is revoked, and released once it has settled; what is wanted again by then is started without letting go.
 * - R6. Nothing is claimed or started before its `retryAtSeconds`. A claim is kept meanwhile.
 * - R7. With the cooperative rule, nothing is claimed or released, and nothing starts while anyone else reports it.
 * - R8. Carrying a diff out and asking again at the same instant yields nothing, unless a stop was given no time at all.
 */
export function diffSubscriptions(input: SubscriptionDiffInput): SubscriptionDiff {
  const stop: SubscriptionDiff['stop'][number][] = []
  const lists = { giveUp: [] as string[], release: [] as string[], claim: [] as string[], start: [] as string[] }
  const waiting: WaitingSubscription[] = []
  let nextDueAtSeconds: number | null = null
  // Without a comparator, strings sort by code units: the same order on every machine.
  for (const subscription of [...new Set([...input.desired, ...input.states.keys()])].sort()) {
    for (const decision of decide(subscription, input)) {
      if (typeof decision === 'string') lists[decision].push(subscription)
      else if ('how' in decision) stop.push(Object.freeze({ subscription, how: decision.how }))
      else waiting.push(Object.freeze({ subscription, for: decision.for, untilSeconds: decision.untilSeconds }))
    }
  }
  for (const { untilSeconds } of waiting) {
    if (untilSeconds !== null) nextDueAtSeconds = Math.min(untilSeconds, nextDueAtSeconds ?? untilSeconds)
  }
  return Object.freeze({
    stop: Object.freeze(stop),
    giveUp: Object.freeze(lists.giveUp),
    release: Object.freeze(lists.release),
    claim: Object.freeze(lists.claim),
    start: Object.freeze(lists.start),
    waiting: Object.freeze(waiting),
    nextDueAtSeconds,
  })
}

type Decision =
  | 'giveUp'
  | 'release'
  | 'claim'
  | 'start'
  | { readonly how: StopManner }
  | { readonly for: WaitingFor; readonly untilSeconds: number | null }

const NOTHING: readonly Decision[] = []

function decide(subscription: string, input: SubscriptionDiffInput): readonly Decision[] {
  const state = input.states.get(subscription) ?? IDLE_SUBSCRIPTION
  const isWanted = input.desired.has(subscription) && !input.isShuttingDown
  if (state.run === 'none') return isWanted ? decideToRun(subscription, state, input) : decideToLetGo(state)

  const hasClaim = state.claim === 'held'
  const mayRun = hasClaim || input.exclusivity.kind === 'cooperative'
  switch (state.run) {
    case 'running':
      return mayRun ? (isWanted ? NOTHING : [{ how: 'revoke' }]) : [{ how: 'abort' }]
    case 'revoked':
    case 'aborted':
      if (isDue(state.stopBySeconds, input)) return hasClaim ? ['giveUp', 'release'] : ['giveUp']
      if (state.run === 'revoked' && !mayRun) return [{ how: 'abort' }]
      return [{ for: 'run_to_settle', untilSeconds: state.stopBySeconds }]
    case 'given_up':
      return hasClaim ? ['release'] : [{ for: 'run_to_settle', untilSeconds: null }]
  }
}

function decideToRun(subscription: string, state: SubscriptionState, input: SubscriptionDiffInput): readonly Decision[] {
  const { exclusivity } = input
  const isAllowed = state.retryAtSeconds === null || isDue(state.retryAtSeconds, input)
  const retry: Decision = { for: 'retry', untilSeconds: state.retryAtSeconds }
  if (exclusivity.kind === 'cooperative') {
    if (exclusivity.reportedElsewhere.has(subscription)) return [{ for: 'other_owner', untilSeconds: null }]
    return [isAllowed ? 'start' : retry]
  }
  switch (state.claim) {
    case 'none':
      return [isAllowed ? 'claim' : retry]
    case 'held':
      return [isAllowed ? 'start' : retry]
    default:
      return decideToLetGo(state)
  }
}

/** Of what does not run. */
function decideToLetGo(state: SubscriptionState): readonly Decision[] {
  switch (state.claim) {
    case 'none':
      return NOTHING
    case 'requested':
      return [{ for: 'claim_answer', untilSeconds: null }]
    case 'held':
      return ['release']
    case 'releasing':
      return [{ for: 'release_answer', untilSeconds: null }]
  }
}

function isDue(atSeconds: number | null, { nowSeconds }: SubscriptionDiffInput): boolean {
  return atSeconds !== null && atSeconds <= nowSeconds
}
