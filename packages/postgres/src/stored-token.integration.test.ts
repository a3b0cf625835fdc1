import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { verifyStoredToken } from './stored-token.js'
import { TestElection } from './test-election.test.harness.js'

let election: TestElection

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => election?.[Symbol.asyncDispose]())

describe('verifyStoredToken', () => {
  it('passes for the token of a present and of an earlier term, through a client or a pool', async () => {
    const a = election.join('a')
    await a.campaign()
    const first = a.fencingToken ?? -1n
    await verifyStoredToken(election.admin, first)
    await a.release()
    await a.campaign()
    expect(a.fencingToken).toBeGreaterThan(first)
    const pool = new pg.Pool({ connectionString: election.url, max: 1 })
    pool.on('error', () => {})
    for (const token of [0n, first, a.fencingToken ?? -1n]) await verifyStoredToken(pool, token)
    const client = await pool.connect()
    await verifyStoredToken(client, first)
    client.release()
    await pool.end()
  })

  it('fails for a token that this cluster has not reached, with the cause and the remedy', async () => {
    const [{ next } = { next: '0' }] = await election.query<{ next: string }>(
      'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
    )
    for (const token of [BigInt(next) + 1000n, 2n ** 63n - 1n]) {
      await expect(verifyStoredToken(election.admin, token)).rejects.toMatchObject({
        code: 'stored_token_ahead',
        message: expect.stringMatching(new RegExp(`${token} is ahead.*restored from another cluster.*set the stored tokens to 0`)),
      })
    }
  })
})
