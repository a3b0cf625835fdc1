import { expect, it } from 'vitest'
import { NewestAssignment } from './newest-assignment.js'

const HEARTBEAT_TIMEOUT_SECONDS = 3

interface Word {
  readonly epoch?: bigint
  readonly revision?: number
  readonly to?: string
  readonly gives: readonly string[]
  readonly now?: number
}

function hearing(...words: readonly Word[]): { readonly newest: NewestAssignment; readonly late: readonly boolean[] } {
  const newest = new NewestAssignment('a', HEARTBEAT_TIMEOUT_SECONDS)
  const late = words.map(({ epoch, revision, to = 'a', gives, now = 0 }) =>
    newest.hear({ target_instance_id: to, subscriptions: gives, revision, ...(epoch !== undefined && { epoch: String(epoch) }) }, now),
  )
  return { newest, late }
}

it('gives what the newest assignment does, however they arrive', () => {
  const { newest, late } = hearing(
    { epoch: 10n, revision: 2, gives: ['s1'] },
    { epoch: 9n, revision: 7, gives: ['s2'] },
    { epoch: 10n, revision: 1, gives: ['s3'] },
  )
  expect(late).toEqual([false, true, true])
  expect(['s1', 's2', 's3'].map((name) => newest.gives(name))).toEqual([true, false, false])
  expect(newest.epoch).toBe(10n)
})

it('counts epochs that are told to others, and not what they are given', () => {
  const { newest, late } = hearing(
    { epoch: 8n, gives: ['s1'] },
    { epoch: 10n, to: 'b', gives: ['s2'] },
    { epoch: 9n, gives: ['s3'] },
    { epoch: 9n, to: 'b', gives: ['s4'] },
  )
  expect(late).toEqual([false, false, true, false])
  expect(['s1', 's2', 's3'].map((name) => newest.gives(name))).toEqual([true, false, false])
})

it('takes the same revision again, and any revision of a new epoch', () => {
  const { newest, late } = hearing(
    { epoch: 1n, revision: 5, gives: ['s1'] },
    { epoch: 1n, revision: 5, gives: ['s1'] },
    { epoch: 2n, revision: 0, gives: ['s2'] },
  )
  expect(late).toEqual([false, false, false])
  expect(newest.gives('s2')).toBe(true)
})

it('forgets an epoch of which nothing was heard for three heartbeat timeouts, and not before', () => {
  const old = { epoch: 1n, gives: ['s1'] }
  expect(hearing({ epoch: 2n, gives: [] }, { ...old, now: 3 * HEARTBEAT_TIMEOUT_SECONDS - 0.1 }).late).toEqual([false, true])
  expect(hearing({ epoch: 2n, gives: [] }, { ...old, now: 3 * HEARTBEAT_TIMEOUT_SECONDS }).late).toEqual([false, false])
})

it('gives everything while nothing was heard that can be put in order', () => {
  expect(hearing().newest.gives('s1')).toBe(true)
  expect(hearing({ gives: ['s2'] }).newest.gives('s1')).toBe(true)
})
