import type { Clock } from '@es/coordination-core'

// How long calls of adapters may take, in seconds. An adapter bounds its own calls; these are for one that does not.
//
// While the worker runs, nobody waits for more than the call itself, so there is time. While it leaves, the platform may be about to kill it: once
// the time to drain is over, each thing still said to a backend has LAST_WORD_SECONDS. What is released then is released side by side, and a last
// heartbeat follows; closing what `dispose` lists comes after it. So `stop()` resolves 2 + 2 + 5 seconds after its deadline at the latest, and 2 later
// where the goodbye, which goes out beside the drain, had no time before it.

/** An attempt to lead. Longer than `tryAcquire` gives itself, which tells more about what is wrong. */
export const ATTEMPT_SECONDS = 15

/** A batch of claims, or of releases. */
export const CLAIM_SECONDS = 10

/** Closing all that `dispose` lists. */
export const CLOSING_SECONDS = 5

const LAST_WORD_SECONDS = 2

/** How long a call may take that belongs to leaving until `deadline` (monotonic): the time that is left, or a last moment. */
export function lastWordSeconds(clock: Clock, deadline: number): number {
  return Math.max(deadline - clock.monotonicSeconds(), LAST_WORD_SECONDS)
}
