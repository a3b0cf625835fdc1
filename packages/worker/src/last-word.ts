import type { Clock } from '@es/coordination-core'

// What is still said to a backend after a deadline must not take longer: whoever waits may be about to be killed.
const LAST_WORD_SECONDS = 2

/** How long a call may take that belongs to leaving until `deadline` (monotonic): the time that is left, or a last moment. */
export function lastWordSeconds(clock: Clock, deadline: number): number {
  return Math.max(deadline - clock.monotonicSeconds(), LAST_WORD_SECONDS)
}
