import { setTimeout as wait } from 'node:timers/promises'
import { verifyStoredToken } from '@es/coordination-postgres'
import type { Run, RunContext } from '@es/coordination-worker'
import type { Pool } from 'pg'
import type { UnstampedReport, WorkerSettings } from '../worker-messages.js'
import { isOutage } from './database-outage.js'
import { type BatchOutcome, runGuardedBatch } from './guarded-batch.js'
import { type Projection, projectionOf } from './projections.js'

/** What runs work with. */
export interface ProjectionTools {
  readonly settings: Pick<WorkerSettings, 'worker' | 'batch' | 'workMs'>
  /** Not the connections of the coordination. */
  readonly pool: Pool
  readonly report: (report: UnstampedReport) => void
}

const IDLE_MS = 40
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 500

/**
 * The demo's `run`: batch after batch until it is told to stop. Every batch reads the checkpoint anew, so there is nothing to remember between
 * runs, or across a restart of the database, which is waited for.
 */
export function runProjection(tools: ProjectionTools): Run {
  return async (subscription, context) => {
    const projection = projectionOf(subscription)
    const { signal } = context
    let failures = 0
    while (!signal.aborted) {
      try {
        // Told to stop, it finishes the batch; only a claim that is lost ends it in the middle.
        const outcome = await runBatch(tools, projection, context)
        failures = 0
        if (outcome.kind === 'caught_up') await pause(IDLE_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!isOutage(error)) throw error
        await pause(Math.min(FIRST_RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), signal)
      }
    }
  }
}

async function runBatch(
  { settings, pool, report }: ProjectionTools,
  projection: Projection,
  { fencingToken, lost }: RunContext,
): Promise<BatchOutcome> {
  const { subscription } = projection
  if (fencingToken === null) throw new Error('The demo runs with claims only')
  const token = String(fencingToken)
  const outcome = await runGuardedBatch(pool, projection, {
    worker: settings.worker,
    fencingToken,
    size: settings.batch,
    lost,
    async beforeCheckpoint() {
      report({ type: 'applying', subscription, token })
      await pause(settings.workMs, lost)
    },
  })
  if (outcome.kind === 'committed') report({ type: 'committed', subscription, token, position: outcome.position, events: outcome.events })
  if (outcome.kind === 'refused') {
    report({ type: 'refused', subscription, token, storedToken: String(outcome.storedToken) })
    // Throws when it is the database that is wrong, restored from another cluster; otherwise this run is the stale one.
    await verifyStoredToken(pool, outcome.storedToken)
    throw new Error(`A later owner of ${subscription} has written already: token ${outcome.storedToken}, and ours is ${token}`)
  }
  return outcome
}

/** Whoever is told to stop meanwhile notices by the signal. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => {})
}
