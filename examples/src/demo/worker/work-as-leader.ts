import { setTimeout as wait } from 'node:timers/promises'
import { type PostgresLeaderElector, verifyStoredToken } from '@es/coordination-postgres'
import type { Pool } from 'pg'
import type { UnstampedReport, WorkerSettings } from '../worker-messages.js'
import { type BatchOutcome, runGuardedBatch } from './guarded-batch.js'
import type { Projection } from './orders-projection.js'
import { forgetToken, sabotageTerm, untilWorkHasBegun } from './sabotage.js'

/** What a worker works with. */
export interface WorkerContext {
  readonly settings: WorkerSettings
  readonly elector: PostgresLeaderElector
  /** Not the elector's connection. */
  readonly pool: Pool
  readonly projection: Projection
  readonly report: (report: UnstampedReport) => void
  /** Aborts when the worker is to end. */
  readonly signal: AbortSignal
}

const IDLE_MS = 50

/** Campaigns, works while it leads, and campaigns again after a loss. @throws the signal's reason when it aborts. */
export async function workAsLeader(context: WorkerContext): Promise<never> {
  const { elector, signal, report, settings, pool, projection } = context
  for (;;) {
    signal.throwIfAborted()
    report({ type: 'campaigning' })
    await elector.campaign({ signal })
    const fencingToken = elector.fencingToken
    // It may have been lost again already.
    if (fencingToken === null) continue
    await sabotageTerm(settings.sabotage, pool, projection.subscription)
    await workInTerm(context, fencingToken)
  }
}

/** Batch after batch until the term ends. */
async function workInTerm(context: WorkerContext, fencingToken: bigint): Promise<void> {
  const { elector, pool, signal } = context
  const term = new AbortController()
  const endTerm = (reason: unknown): void => term.abort(reason)
  const onLeaderChange = (isLeader: boolean): void => void (isLeader || endTerm(new Error('leadership was lost')))
  const onStop = (): void => endTerm(signal.reason)
  elector.onLeaderChange(onLeaderChange)
  signal.addEventListener('abort', onStop)
  try {
    // The token says more than the signal: it is computed from the clock, and right on the first line after a pause.
    while (elector.fencingToken === fencingToken && !signal.aborted) {
      const outcome = await workOnce(context, fencingToken, term.signal)
      if (outcome.kind !== 'refused') continue
      // Throws when it is the database that is wrong, restored from another cluster; otherwise this worker is the stale one.
      await verifyStoredToken(pool, outcome.storedToken)
      await elector.release()
    }
  } finally {
    elector.removeLeaderChangeCallback(onLeaderChange)
    signal.removeEventListener('abort', onStop)
  }
}

/** Sabotage `usurp`: works beside the leader without having been elected, and claims to lead. */
export async function workAsUsurper(context: WorkerContext): Promise<never> {
  const { pool, projection, signal, report } = context
  await untilWorkHasBegun(pool, projection.subscription, signal)
  report({ type: 'elected', token: '0' })
  for (;;) {
    signal.throwIfAborted()
    await forgetToken(pool, projection.subscription)
    await workOnce(context, 0n, signal)
    report({ type: 'leading', token: '0' })
  }
}

async function workOnce(context: WorkerContext, fencingToken: bigint, signal: AbortSignal): Promise<BatchOutcome> {
  const { settings, pool, projection, report } = context
  const token = String(fencingToken)
  const outcome = await runGuardedBatch(pool, projection, {
    worker: settings.worker,
    fencingToken,
    size: settings.batch,
    signal,
    async beforeCheckpoint() {
      report({ type: 'applying', token })
      // A term that ends meanwhile is noticed by the caller.
      await wait(settings.workMs, undefined, { signal }).catch(() => {})
    },
  })
  if (outcome.kind === 'committed') report({ type: 'committed', token, position: outcome.position, events: outcome.events })
  if (outcome.kind === 'refused') report({ type: 'refused', token, storedToken: String(outcome.storedToken) })
  if (outcome.kind === 'caught_up') await wait(IDLE_MS, undefined, { signal }).catch(() => {})
  return outcome
}
