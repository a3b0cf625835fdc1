/**
 * Where one subscription stands in this worker: two questions, each with one answer.
 *
 * ```text
 *          claim_requested     claim_granted      release_requested     released
 * claim:  none ────────> requested ────────> held ────────> releasing ────────> none
 *          <──────────── claim_denied; claim_lost from anywhere ────────────>
 *
 *          run_started       revoked          aborted        given_up
 * run:    none ────────> running ────> revoked ────> aborted ────> given_up
 *          <──────────── run_settled from anywhere ────────────>
 * ```
 *
 * With a cooperative rule instead of claims the first line stays at `none`.
 */
export interface SubscriptionState {
  /** `requested` and `releasing` wait for the backend's answer; only `held` allows work. */
  readonly claim: 'none' | 'requested' | 'held' | 'releasing'
  /**
   * `revoked`: asked to end, may finish and checkpoint · `aborted`: told that the claim is lost, may not checkpoint · `given_up`: was asked to
   * end and did not in time; nobody waits for it, but it may still be running · `none`: no call of the user's code is under way.
   */
  readonly run: 'none' | 'running' | 'revoked' | 'aborted' | 'given_up'
  /** Not to be claimed or started before, in seconds of the monotonic clock: after a denied claim, or a run that failed. Null for no wait. */
  readonly retryAtSeconds: number | null
  /** When a run that was asked to end is given up, in seconds of the monotonic clock. Null while there is none, and for no limit. */
  readonly stopBySeconds: number | null
}

/** What happened to one subscription: a decision that was carried out, an answer of the backend, or the end of the user's code. */
export type SubscriptionEvent =
  | { readonly type: 'claim_requested' }
  | { readonly type: 'claim_granted' }
  /** Held by someone else, or the backend could not be asked. */
  | { readonly type: 'claim_denied'; readonly retryAtSeconds: number }
  | { readonly type: 'claim_lost' }
  | { readonly type: 'release_requested' }
  /** The claim has ended, also when the backend could not be told. */
  | { readonly type: 'released' }
  | { readonly type: 'run_started' }
  | { readonly type: 'revoked'; readonly stopBySeconds: number | null }
  | { readonly type: 'aborted'; readonly stopBySeconds: number | null }
  /** The worker leaves sooner than a run under way was told to end. */
  | { readonly type: 'deadline_shortened'; readonly stopBySeconds: number }
  | { readonly type: 'given_up' }
  /** The user's code returned or threw; with an instant when it should not have, and is to be started again then at the earliest. */
  | { readonly type: 'run_settled'; readonly retryAtSeconds: number | null }

/** A subscription that this worker has nothing to do with (yet). */
export const IDLE_SUBSCRIPTION: SubscriptionState = Object.freeze({ claim: 'none', run: 'none', retryAtSeconds: null, stopBySeconds: null })

/**
 * The state after `event`. An event that does not fit the state changes nothing and returns `state` itself: late and repeated answers
 * are part of life. It is for the caller to give a claim back that arrives when none is `requested`.
 */
export function afterSubscriptionEvent(state: SubscriptionState, event: SubscriptionEvent): SubscriptionState {
  const { claim, run, stopBySeconds } = state
  switch (event.type) {
    case 'claim_requested':
      return claim === 'none' ? { ...state, claim: 'requested' } : state
    case 'claim_granted':
      return claim === 'requested' ? { ...state, claim: 'held', retryAtSeconds: null } : state
    case 'claim_denied':
      return claim === 'requested' ? { ...state, claim: 'none', retryAtSeconds: event.retryAtSeconds } : state
    case 'claim_lost':
      return claim === 'none' ? state : { ...state, claim: 'none' }
    case 'release_requested':
      return claim === 'held' ? { ...state, claim: 'releasing' } : state
    case 'released':
      return claim === 'releasing' ? { ...state, claim: 'none' } : state
    case 'run_started':
      return run === 'none' ? { ...state, run: 'running', retryAtSeconds: null } : state
    case 'revoked':
      return run === 'running' ? { ...state, run: 'revoked', stopBySeconds: event.stopBySeconds } : state
    case 'aborted':
      if (run === 'running') return { ...state, run: 'aborted', stopBySeconds: event.stopBySeconds }
      return run === 'revoked' ? { ...state, run: 'aborted', stopBySeconds: earlier(stopBySeconds, event.stopBySeconds) } : state
    case 'deadline_shortened':
      return (run === 'revoked' || run === 'aborted') && event.stopBySeconds < (stopBySeconds ?? Number.POSITIVE_INFINITY)
        ? { ...state, stopBySeconds: event.stopBySeconds }
        : state
    case 'given_up':
      return run === 'revoked' || run === 'aborted' ? { ...state, run: 'given_up', stopBySeconds: null } : state
    case 'run_settled':
      return run === 'none' ? state : { ...state, run: 'none', stopBySeconds: null, retryAtSeconds: event.retryAtSeconds }
  }
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}
