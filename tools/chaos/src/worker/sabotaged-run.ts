import { errorMessage, sleep } from '@es/coordination-core'
import type { Run } from '@es/coordination-worker'
import type { ClientBase } from 'pg'
import { type Projection, readProjection, writeOn } from './guarded-batch.js'
import { inTransaction } from './guarded-transaction.js'
import { type RunTools, tokenOf } from './projection-run.js'
import type { Sabotage } from './worker-settings.js'

const READ_PROJECTION = 'SELECT number, position, events, total, fold FROM projections WHERE subscription = $1'
const SKIP_EVENTS = 'UPDATE projections SET position = position + 3 WHERE subscription = $1 AND position > 0'

const STUBBORN_BATCHES = 10
const PAUSE_SECONDS = 0.05

/** `run` with the fault built in, if the sabotage is one of runs. */
export function sabotagedRun(sabotage: Sabotage | null, run: Run, tools: RunTools): Run {
  if (sabotage === 'ignore-token') return runStubbornly(tools)
  if (sabotage !== 'skip') return run
  return async (subscription, context) => {
    await tools.pool.query(SKIP_EVENTS, [subscription]).catch(() => {})
    await run(subscription, context)
  }
}

function runStubbornly({ pool, instanceId, log }: RunTools): Run {
  return async (subscription, { signal, lost, fencingToken }) => {
    const never = new AbortController().signal
    const owner = { subscription, instanceId, fencingToken: tokenOf(fencingToken) }
    let projection: Projection | null = null
    for (let left = STUBBORN_BATCHES; left > 0 && !(signal.aborted && !lost.aborted); left -= lost.aborted ? 1 : 0) {
      projection = await inTransaction(pool, never, async (client) =>
        writeOn(client, owner, projection ?? (await stored(client, subscription))),
      ).catch((error: unknown) => {
        log(`A stubborn batch of ${subscription} failed: ${errorMessage(error)}`)
        return projection
      })
      await sleep(PAUSE_SECONDS)
    }
  }
}

/** `double-run`: runs `subscription` without a claim, beside its owner, until `signal` aborts. */
export async function runWithoutClaim({ pool, instanceId, file }: RunTools, subscription: string, signal: AbortSignal): Promise<void> {
  file.record({ type: 'run_started', instanceId, subscription, token: null })
  while (!signal.aborted) {
    await inTransaction(pool, signal, async (client) =>
      writeOn(client, { subscription, instanceId, fencingToken: 0n }, await stored(client, subscription)),
    ).catch(() => {})
    await sleep(PAUSE_SECONDS)
  }
  file.record({ type: 'run_stopped', instanceId, subscription, cause: 'stopping' })
}

async function stored(client: ClientBase, subscription: string): Promise<Projection> {
  const { rows } = await client.query(READ_PROJECTION, [subscription])
  return readProjection(rows[0])
}
