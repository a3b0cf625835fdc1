import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'pg'

/**
 * Faults that can be built in, to see that the demo's verdict notices them.
 *
 * - `rewind`: a new leader sets the checkpoint back behind the guard's back, so that events are applied twice.
 * - `skip`: a new leader sets it forward, so that events are lost.
 * - `usurp`: one worker works without having been elected, and takes the stored token away so that the guard lets it.
 * - `crash`: a leader dies of an error of its own.
 */
export const SABOTAGES = ['rewind', 'skip', 'usurp', 'crash'] as const
export type Sabotage = (typeof SABOTAGES)[number]

const SHIFT_CHECKPOINT = 'UPDATE checkpoints SET position = greatest(position + $2, 0) WHERE subscription = $1 AND position > 0'
const FORGET_TOKEN = 'UPDATE checkpoints SET fencing_token = 0 WHERE subscription = $1 AND position > 0'
const HAS_BEGUN = 'SELECT FROM checkpoints WHERE subscription = $1 AND position > 0'

/** What a sabotaged worker does when it has just been elected. Harms nothing before the first event was applied. */
export async function sabotageTerm(sabotage: Sabotage | null, pool: Pool, subscription: string): Promise<void> {
  if (sabotage === 'rewind') await pool.query(SHIFT_CHECKPOINT, [subscription, -7])
  if (sabotage === 'skip') await pool.query(SHIFT_CHECKPOINT, [subscription, 7])
  if (sabotage === 'crash') throw new Error('Sabotage: this worker crashes as soon as it leads')
}

/** Resolves when the usurper may strike: when the true leader is at work. */
export async function untilWorkHasBegun(pool: Pool, subscription: string, signal: AbortSignal): Promise<void> {
  while ((await pool.query(HAS_BEGUN, [subscription])).rowCount === 0) await wait(20, undefined, { signal })
}

/** Opens the guard for a worker that has no token. */
export async function forgetToken(pool: Pool, subscription: string): Promise<void> {
  await pool.query(FORGET_TOKEN, [subscription])
}
