import { errorMessage, sleep } from '@es/coordination-core'
import { verifyStoredToken } from '@es/coordination-postgres'
import type { Run, RunContext } from '@es/coordination-worker'
import type { Pool } from 'pg'
import type { HistoryFile } from '../history-file.js'
import { applyBatch } from './guarded-batch.js'
import { inTransaction } from './guarded-transaction.js'

/** What runs work with. */
export interface RunTools {
  readonly instanceId: string
  /** Not the connections of the coordination. */
  readonly pool: Pool
  readonly file: HistoryFile
  /** For a person who wonders why nothing goes on. */
  readonly log: (message: string) => void
}

const IDLE_SECONDS = 0.05
const RETRY_SECONDS = 0.1

/** Their handlers do something else before they write, and look at no signal meanwhile: so writes of stale owners are tried, which the token has to refuse. */
const HARD_OF_HEARING: ReadonlySet<string> = new Set(['customers', 'mails'])
const OTHER_WORK_SECONDS = 0.1
const HEARS_AFTER_SECONDS = 0.3

/** The `run` of the workers: batch after batch until it is told to stop. Whatever the database fails at is tried again. */
export function projectionRun(tools: RunTools): Run {
  return async (subscription, { signal, lost, fencingToken }) => {
    const isHardOfHearing = HARD_OF_HEARING.has(subscription)
    const attempt = { subscription, lost: isHardOfHearing ? heardLate(lost) : lost, fencingToken: tokenOf(fencingToken) }
    while (!signal.aborted) {
      if (isHardOfHearing) await sleep(OTHER_WORK_SECONDS)
      const outcome = await tryBatch(tools, attempt)
      if (outcome === 'failed') await pause(RETRY_SECONDS, signal)
      else if (outcome.kind === 'refused') await onRefused(tools, subscription, tokenOf(fencingToken), outcome.storedToken)
      else if (outcome.events === 0) await pause(IDLE_SECONDS, signal)
    }
  }
}

type Attempt = Pick<RunContext, 'lost'> & { readonly subscription: string; readonly fencingToken: bigint }

async function tryBatch({ pool, instanceId, log }: RunTools, { subscription, lost, fencingToken }: Attempt) {
  try {
    return await inTransaction(pool, lost, (client) => applyBatch(client, { subscription, instanceId, fencingToken }))
  } catch (error) {
    if (!lost.aborted) log(`A batch of ${subscription} failed: ${errorMessage(error)}`)
    return 'failed'
  }
}

/** @throws always: a stale run has nothing more to do. */
async function onRefused({ file, instanceId, pool }: RunTools, subscription: string, token: bigint, storedToken: bigint): Promise<never> {
  file.record({ type: 'checkpoint_refused', instanceId, subscription, token })
  await verifyStoredToken(pool, storedToken)
  throw new Error(`A later owner of ${subscription} has written already: token ${storedToken}, and ours is ${token}`)
}

export function tokenOf(fencingToken: bigint | null): bigint {
  if (fencingToken === null) throw new Error('A run without a claim has no token to guard its writes')
  return fencingToken
}

/** Whoever is told to stop meanwhile notices by the signal. */
async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds, { signal }).catch(() => {})
}

function heardLate(lost: AbortSignal): AbortSignal {
  const heard = new AbortController()
  lost.addEventListener('abort', () => setTimeout(() => heard.abort(lost.reason), HEARS_AFTER_SECONDS * 1000))
  return heard.signal
}
