import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { hostSeconds } from '../host-seconds.js'
import type { Candidate, Meeting } from './candidate.js'

const LEASE_SECONDS = 15
const RENEW_DEADLINE_SECONDS = 10
const RETRY_SECONDS = 2
const JITTER_FACTOR = 1.2

/**
 * A lease that is renewed and polled, as the client libraries of Kubernetes elect a leader, with their default timings; a row of a table stands for the Lease
 * object, and its version for the resource version. A candidate takes the lease when it has not seen it change for as long as it lasts, on its own clock.
 */
export function polledLeaseCandidate({ election, identity, connection }: Meeting): Candidate {
  const pool = new pg.Pool({ connectionString: connection, max: 1 })
  pool.on('error', () => {})
  let seen = { version: -1, at: Number.NEGATIVE_INFINITY }
  let isLeader = false

  /** One attempt to take or renew the lease. */
  async function tryAcquireOrRenew(): Promise<boolean> {
    const { rows } = await pool.query('SELECT holder, version FROM lease WHERE election = $1', [election])
    const [lease] = rows as { readonly holder: string; readonly version: number }[]
    if (lease === undefined) {
      const { rowCount } = await pool.query('INSERT INTO lease VALUES ($1, $2, 0) ON CONFLICT DO NOTHING', [election, identity])
      return rowCount === 1
    }
    if (lease.version !== seen.version) seen = { version: lease.version, at: hostSeconds() }
    const isTaken = lease.holder !== '' && lease.holder !== identity
    if (isTaken && hostSeconds() < seen.at + LEASE_SECONDS) return false
    const { rowCount } = await pool.query('UPDATE lease SET holder = $2, version = version + 1 WHERE election = $1 AND version = $3', [
      election,
      identity,
      lease.version,
    ])
    return rowCount === 1
  }

  async function keepRenewing(): Promise<void> {
    let renewedAt = hostSeconds()
    while (isLeader && hostSeconds() < renewedAt + RENEW_DEADLINE_SECONDS) {
      await delay(RETRY_SECONDS * 1000)
      if (isLeader && (await tryAcquireOrRenew().catch(() => false))) renewedAt = hostSeconds()
    }
    isLeader = false
  }

  return {
    async lead() {
      while (!(await tryAcquireOrRenew().catch(() => false))) await delay(RETRY_SECONDS * (1 + Math.random() * JITTER_FACTOR) * 1000)
      isLeader = true
      void keepRenewing()
    },
    async release() {
      isLeader = false
      await pool.query("UPDATE lease SET holder = '', version = version + 1 WHERE election = $1 AND holder = $2", [election, identity])
    },
  }
}

/** The table that stands for the API server. */
export const CREATE_LEASE_TABLE = 'CREATE TABLE lease (election text PRIMARY KEY, holder text NOT NULL, version int NOT NULL)'
