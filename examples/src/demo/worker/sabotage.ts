import { setTimeout as wait } from 'node:timers/promises'
import type { Run } from '@es/coordination-worker'
import type { Pool } from 'pg'
import { runGuardedBatch } from './guarded-batch.js'
import { projectionOf, SUBSCRIPTIONS } from './projections.js'
import type { ProjectionTools } from './run-projection.js'

/**
 * Faults that can be built in, to see that the demo's verdict notices them.
 *
 * - `rewind`: a new owner sets the checkpoint back behind the guard's back, so that events are applied twice.
 * - `skip`: a new owner sets it forward, so that events are lost.
 * - `ignore-token`: an owner remembers its position, and goes on for a while after the claim is lost, past the guard.
 * - `usurp`: one worker runs a subscription without a claim for a moment, and takes the stored token away so that the guard lets it.
 * - `crash`: a worker dies of an error of its own.
 */
export const SABOTAGES = ['rewind', 'skip', 'ignore-token', 'usurp', 'crash'] as const
export type Sabotage = (typeof SABOTAGES)[number]

const SHIFT_CHECKPOINT = 'UPDATE checkpoints SET position = greatest(position + $2, 0) WHERE subscription = $1 AND position > 0'
const FORGET_TOKEN = 'UPDATE checkpoints SET fencing_token = 0 WHERE subscription = $1'
const READ_POSITION = 'SELECT position FROM checkpoints WHERE subscription = $1'
const REWRITE_CHECKPOINT = 'UPDATE checkpoints SET position = $2, fencing_token = 0 WHERE subscription = $1'

const BATCHES_AFTER_THE_LOSS = 5
const FAR_ENOUGH = 100
const USURPED_BATCHES = 10

/** `run` with the fault built in. */
export function sabotageRun(sabotage: Sabotage | null, run: Run, tools: ProjectionTools): Run {
  switch (sabotage) {
    case 'rewind':
      return afterShift(run, tools.pool, -7)
    case 'skip':
      return afterShift(run, tools.pool, 7)
    case 'ignore-token':
      return runStubbornly(tools)
    case 'crash':
      return async () => {
        // An error of a run would only be reported, and the run started again.
        setImmediate(() => {
          throw new Error('Sabotage: this worker crashes as soon as it works')
        })
      }
    default:
      return run
  }
}

function afterShift(run: Run, pool: Pool, by: number): Run {
  return async (subscription, context) => {
    await pool.query(SHIFT_CHECKPOINT, [subscription, by])
    await run(subscription, context)
  }
}

function runStubbornly({ pool, settings, report }: ProjectionTools): Run {
  return async (subscription, { signal, lost, fencingToken }) => {
    const { worker, batch: size, workMs } = settings
    const projection = projectionOf(subscription)
    const inName = { worker, fencingToken: fencingToken ?? 0n, size, lost: new AbortController().signal }
    let position = Number((await pool.query<{ position: string }>(READ_POSITION, [subscription])).rows[0]?.position)
    for (let left = BATCHES_AFTER_THE_LOSS; left > 0 && !(signal.aborted && !lost.aborted); left -= lost.aborted ? 1 : 0) {
      try {
        await pool.query(REWRITE_CHECKPOINT, [subscription, position])
        const outcome = await runGuardedBatch(pool, projection, inName)
        if (outcome.kind === 'committed') report({ ...outcome, type: 'committed', subscription, token: String(fencingToken) })
        if ('position' in outcome) position = outcome.position
      } catch {
        // Its connection was ended while it was stopped; it takes another one.
      }
      await wait(workMs)
    }
  }
}

/** `usurp`: runs the first subscription beside its owner for a moment, from when that has begun. */
export async function usurp({ pool, report, settings }: ProjectionTools, signal: AbortSignal): Promise<void> {
  const [subscription = ''] = SUBSCRIPTIONS
  const { worker, batch: size } = settings
  const position = async (): Promise<number> => Number((await pool.query(READ_POSITION, [subscription])).rows[0]?.position)
  while (!signal.aborted && (await position()) < FAR_ENOUGH) await wait(20)
  report({ type: 'run_started', subscription, token: '0' })
  for (let batches = USURPED_BATCHES; batches > 0 && !signal.aborted; batches--) {
    await pool.query(FORGET_TOKEN, [subscription])
    await runGuardedBatch(pool, projectionOf(subscription), { worker, fencingToken: 0n, size, lost: signal }).catch(() => {})
    await wait(20)
  }
  report({ type: 'run_ended', subscription, token: '0', cause: 'stopping' })
}
