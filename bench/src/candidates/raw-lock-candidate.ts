import pg from 'pg'
import type { Candidate, Meeting } from './candidate.js'

/** A bare session that blocks in `pg_advisory_lock`: nothing is faster, and nothing notices a holder that is stopped or cut off. */
export function rawLockCandidate({ election, connection }: Meeting): Candidate {
  const client = new pg.Client({ connectionString: connection })
  // Without a listener a lost connection would end the process.
  client.on('error', () => {})
  const connected = client.connect()
  return {
    async lead() {
      await connected
      await client.query({ name: 'lock', text: 'SELECT pg_advisory_lock(hashtextextended($1, 0))', values: [election] })
    },
    async release() {
      await client.query({ name: 'unlock', text: 'SELECT pg_advisory_unlock(hashtextextended($1, 0))', values: [election] })
    },
  }
}
