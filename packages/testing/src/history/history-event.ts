/**
 * What happened in a cluster, as a recorder saw it; the input of `checkHistory`.
 *
 * `at` is in seconds on one monotonic clock that all recorders share, such as `process.hrtime` of one machine or a simulator's own. What the
 * checker can conclude rests on what exactly is recorded:
 *
 * - A beginning (`elected`, `claimed`, `run_started`) is recorded when it is known, never before; an end (`leadership_lost`, `claim_lost`,
 *   `claim_released`) when the instance stops believing: for a release that is the moment of the call and not of the answer, since a rival may own
 *   as soon as the call reaches the backend.
 * - `crashed`, `paused` and `resumed` are recorded from outside: each just before the signal is sent.
 * - A write is recorded when it was accepted. Whoever cannot tell when that was (the process stood still while it waited for the answer) gives `sentAt`
 *   as well, and gets the benefit of the doubt.
 */
export type HistoryEvent =
  | InstanceEvent
  | LeadershipEvent
  | ClaimEvent
  | RunEvent
  | WriteEvent
  | CheckpointRefused
  | FaultEvent
  /** The recording ends; nothing comes after it. Without one it ends with its last event. */
  | Event<'end'>

/** What every event says. */
interface Event<Type extends string> {
  readonly type: Type
  /** Seconds on the common monotonic clock. */
  readonly at: number
  /** Anything that helps a reader; not judged. */
  readonly note?: string
}

/** What every event of an instance says. */
interface OfInstance<Type extends string> extends Event<Type> {
  readonly instanceId: string
}

/** What every event about one subscription says. */
interface OfSubscription<Type extends string> extends OfInstance<Type> {
  readonly subscription: string
}

/** The life of an instance. */
export type InstanceEvent =
  /** A process takes part. An instance without such an event counts as there from its first event. */
  | (OfInstance<'instance_started'> & { readonly incarnation: string })
  /** It has begun to leave, and takes nothing new. */
  | OfInstance<'stopping'>
  /** It has left, holding nothing. */
  | OfInstance<'stopped'>
  /** It was killed or died: everything of it ends at this instant. */
  | OfInstance<'crashed'>
  /**
   * It stands still until `resumed`. What it believed and gave a `trustedUntil` for, it goes on believing until then; anything else counts as not
   * believed while it stands still, and as believed again from `resumed` until its own event says otherwise.
   */
  | OfInstance<'paused'>
  | OfInstance<'resumed'>

/**
 * Leadership. `token`: the fencing token of the term, `null` from an elector without. `trustedUntil`: when the instance stops believing, whatever
 * it notices, unless it is renewed; without one it believes until the next event that says otherwise.
 */
export type LeadershipEvent =
  | (OfInstance<'elected'> & { readonly token: bigint | null; readonly trustedUntil?: number })
  /** It still leads, as far as it can tell, and until `trustedUntil` now. Without `trustedUntil` it is a look that changes nothing. */
  | (OfInstance<'leadership_renewed'> & { readonly trustedUntil?: number })
  | (OfInstance<'leadership_lost'> & { readonly token?: bigint })

/** Claims; `trustedUntil` as in {@link LeadershipEvent}. */
export type ClaimEvent =
  | (OfSubscription<'claimed'> & { readonly token: bigint; readonly trustedUntil?: number })
  /** All claims of the instance are still held, as far as it can tell, and until `trustedUntil` now. Without `trustedUntil` a look that changes nothing. */
  | (OfInstance<'claims_renewed'> & { readonly trustedUntil?: number })
  | (OfSubscription<'claim_lost'> & { readonly token?: bigint })
  /** It let go on its own account. */
  | (OfSubscription<'claim_released'> & { readonly token?: bigint })

/**
 * Why a run ended: it was told so because its subscription goes elsewhere (`revoked`), its instance leaves (`stopping`) or its claim is gone (`lost`);
 * it `failed`; or it was `abandoned`, and may still be going on with nothing but its fencing token between it and harm.
 */
export type RunEnding = 'revoked' | 'stopping' | 'lost' | 'failed' | 'abandoned'

/** Work on a subscription. */
export type RunEvent =
  | (OfSubscription<'run_started'> & { readonly token: bigint | null })
  | (OfSubscription<'run_stopped'> & { readonly token?: bigint; readonly cause?: RunEnding })

/** Something that the store accepted. `token`: the fencing token that guarded it, `null` without. `sentAt`: it took effect between then and `at`. */
export type WriteEvent =
  /** One event took effect. */
  | (OfSubscription<'event_applied'> & { readonly position: number; readonly token: bigint | null; readonly sentAt?: number })
  /**
   * The checkpoint moved to `position`. `from`: the first position that this write covers; `position` when left out, and `position + 1` for a write that
   * covers none and only puts its token down. Where `event_applied` is recorded, that tells what was covered, and `from` says nothing.
   */
  | (OfSubscription<'checkpoint_written'> & {
      readonly position: number
      readonly from?: number
      readonly token: bigint | null
      readonly sentAt?: number
    })

/** The store refused a write: the guard worked, and nothing happened. */
type CheckpointRefused = OfSubscription<'checkpoint_refused'> & { readonly position?: number; readonly token: bigint | null }

/**
 * What was done to the cluster; `kind` is free text such as `network cut`. With an `instanceId` it befell that instance alone, without one everybody:
 * while such a fault lasts, nobody is expected to own or to lead.
 */
export type FaultEvent =
  /** Over as soon as it happened, such as a session that was ended. */
  | (Event<'fault'> & FaultDetails)
  | (Event<'fault_began'> & FaultDetails)
  /** Ends the `fault_began` of the same `kind` and `instanceId`. */
  | (Event<'fault_ended'> & FaultDetails)

/** Which fault. */
interface FaultDetails {
  readonly kind: string
  readonly instanceId?: string
}

/** Any event of an instance. */
export type EventOfInstance = HistoryEvent & OfInstance<string>

/** The instance that an event is about, if any. */
export function instanceOf(event: HistoryEvent): string | null {
  return 'instanceId' in event ? (event.instanceId ?? null) : null
}

/** The subscription that an event is about, if any. */
export function subscriptionOf(event: HistoryEvent): string | null {
  return 'subscription' in event ? event.subscription : null
}
