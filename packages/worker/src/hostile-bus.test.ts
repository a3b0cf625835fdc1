import { MAX_EPOCH } from '@es/coordination-core'
import { describe, expect, it, vi } from 'vitest'
import { type Cluster, type ClusterOptions, simulate } from './cluster.test.harness.js'
import { Forger, ownedShare } from './forger.test.harness.js'

vi.setConfig({ testTimeout: 60_000 })

/** Three instances that share twelve subscriptions, and a forger. All of it is checked at the end: no run twice, none without a claim, nothing left behind. */
function besieged(scenario: (cluster: Cluster, forger: Forger) => Promise<void>, options: ClusterOptions = {}): Promise<void> {
  return simulate({ subscriptions: 12, ...options }, async (cluster) => {
    for (const id of ['a', 'b', 'c']) await cluster.start(id)
    await cluster.until(() => cluster.isBalanced)
    await cluster.pass(10)
    await scenario(cluster, new Forger(cluster))
    // Whatever it did is over within an epoch's memory and a timeout.
    const isWell = (): boolean => [...cluster.members.values()].every(({ worker }) => worker.health().status === 'ok')
    await cluster.until(() => cluster.isBalanced && cluster.leader !== undefined && isWell(), { withinSeconds: 90, stepSeconds: 0.5 })
  })
}

const MINUTE = 60
const TIMEOUT_SECONDS = 15

describe('instances that somebody makes up', () => {
  for (const count of [1, 9, 100]) {
    it(`have at most one subscription at a time once the leader knows their kind: ${count} of them`, () =>
      besieged(async (cluster, forger) => {
        const ghosts = (): void => forger.ghosts(count)
        // What they cost first: what they were given is not run for a heartbeat timeout.
        expect(await ownedShare(cluster, TIMEOUT_SECONDS + 5, ghosts)).toBeGreaterThan(0.25)
        const worst = 11 / 12
        expect(await ownedShare(cluster, 5 * MINUTE, ghosts)).toBeGreaterThanOrEqual(worst - 0.01)
        expect(cluster.leader?.worker.status().plan?.held.join()).toMatch(/take nothing of what they are told to run.*ghost-\d/)
        // A real newcomer gets its share all the same.
        await cluster.start('d')
        await cluster.until(() => cluster.member('d').running.length >= 2, { withinSeconds: 2 * TIMEOUT_SECONDS })
      }))
  }

  it('have it no longer though they say that they run what they are told to', () =>
    besieged(async (cluster, forger) => {
      const liar = (): void =>
        forger.ghosts(9, (id) => ({ subscriptions: cluster.subscriptions.filter((_name, index) => `ghost-${index % 9}` === id) }))
      await ownedShare(cluster, TIMEOUT_SECONDS + 5, liar)
      expect(await ownedShare(cluster, 2 * MINUTE, liar)).toBeGreaterThanOrEqual(11 / 12 - 0.01)
    }))

  it('do not grow the table of peers, nor the load of an instance, beyond maxPeers', () =>
    besieged(
      async (cluster, forger) => {
        let made = 0
        for (let second = 0; second < 20; second++) {
          for (let index = 0; index < 200; index++) forger.heartbeat({ instanceId: `ghost-${made++}`, incarnation: 'x', sequence: 1 })
          await cluster.pass(1)
        }
        for (const { worker } of cluster.members.values()) {
          const { peers } = worker.status()
          expect(peers.length).toBeLessThanOrEqual(50)
          expect(peers.filter(({ instanceId, status }) => ['a', 'b', 'c'].includes(instanceId) && status === 'healthy')).toHaveLength(2)
        }
        expect(cluster.log.filter(({ level }) => level === 'warn' || level === 'error').length).toBeLessThan(60)
      },
      { defaults: { maxPeers: 50 } },
    ))

  it('are believed where they pass for instances that claim nothing, but not where there are none (trustsClaimlessPeers)', async () => {
    const listsAll = async (cluster: Cluster, forger: Forger): Promise<number> => {
      const heartbeat = (): void => forger.heartbeat({ instanceId: 'old', subscriptions: cluster.subscriptions })
      await ownedShare(cluster, TIMEOUT_SECONDS + 5, heartbeat)
      return await ownedShare(cluster, MINUTE, heartbeat)
    }
    await besieged(async (cluster, forger) => expect(await listsAll(cluster, forger)).toBeCloseTo(9 / 12))
    await besieged(async (cluster, forger) => expect(await listsAll(cluster, forger)).toBeGreaterThanOrEqual(11 / 12 - 0.01), {
      defaults: { trustsClaimlessPeers: false },
    })
  })
})

describe('words in the name of a live instance', () => {
  const incarnationOf = (cluster: Cluster, id: string): string =>
    cluster
      .member('a')
      .worker.status()
      .peers.find(({ instanceId }) => instanceId === id) === undefined
      ? ''
      : `${id}/${id === 'b' ? 2 : 3}`

  it.each([
    ['a goodbye', (forger: Forger, incarnation: string) => forger.goodbye({ instanceId: 'b', incarnation })],
    ['a goodbye of a life that never was', (forger: Forger) => forger.goodbye({ instanceId: 'b', incarnation: 'made up' })],
    [
      'a heartbeat far ahead of its own',
      (forger: Forger, incarnation: string) => forger.heartbeat({ instanceId: 'b', incarnation, sequence: Number.MAX_SAFE_INTEGER }),
    ],
  ])('are contradicted within moments, and cost no run: %s', (_name, forge) =>
    besieged(async (cluster, forger) => {
      const runs = cluster.recorder.runs.length
      forge(forger, incarnationOf(cluster, 'b'))
      await cluster.pass(1)
      const seen = cluster
        .member('a')
        .worker.status()
        .peers.find(({ instanceId }) => instanceId === 'b')
      expect(seen).toMatchObject({ status: 'healthy', subscriptions: cluster.member('b').running })
      await cluster.pass(4 * MINUTE)
      expect(cluster.recorder.runs.length).toBe(runs)
    }),
  )

  it('said over and over cost moves as long as they last, and are answered a bounded number of times', () =>
    besieged(async (cluster, forger) => {
      const sent = cluster.member('b').transport.sent.length
      let life = 0
      for (let tenth = 0; tenth < 300; tenth++) {
        for (let n = 0; n < 10; n++) forger.heartbeat({ instanceId: 'b', incarnation: `x${++life}`, sequence: 1, capacity: 0 })
        forger.goodbye({ instanceId: 'b', incarnation: `y${life}` })
        await cluster.pass(0.1)
      }
      // Thirty seconds, with a pause of half a second between two that nobody waits for.
      expect(cluster.member('c').transport.sent.filter(({ topic }) => topic.endsWith('heartbeat')).length).toBeLessThan(140)
      expect(cluster.member('b').transport.sent.length - sent).toBeLessThan(300)
      expect(cluster.log.length).toBeLessThan(400)
    }))
})

describe('forged assignments', () => {
  it.each([
    ['of the highest epoch', { epoch: MAX_EPOCH, revision: 1 }],
    ['of the present epoch, with the highest revision', { epoch: 1n, revision: Number.MAX_SAFE_INTEGER }],
    ['without an epoch', {}],
  ])('to run nothing stop the work while they last, and for three heartbeat timeouts: %s', (_name, stamp) =>
    besieged(async (cluster, forger) => {
      for (let second = 0; second < 30; second++) {
        for (const targetInstanceId of ['a', 'b', 'c']) forger.assign({ targetInstanceId, subscriptions: [], ...stamp })
        await cluster.pass(1)
      }
      const seconds = await cluster.until(() => cluster.isComplete)
      expect(seconds).toBeLessThanOrEqual(3 * TIMEOUT_SECONDS + 6)
    }),
  )

  it('to run everything make nobody run what another holds', () =>
    besieged(async (cluster, forger) => {
      const runs = cluster.recorder.runs.length
      forger.assign({ targetInstanceId: 'b', subscriptions: [...cluster.subscriptions].reverse(), epoch: MAX_EPOCH, revision: 1 })
      await cluster.pass(10)
      expect(cluster.recorder.runs.length).toBe(runs)
      expect(cluster.isComplete).toBe(true)
    }))

  it('of names that nobody knows leave room for the heartbeat, and cost the book nothing', () =>
    besieged(async (cluster, forger) => {
      for (let message = 0; message < 15; message++) {
        const names = Array.from({ length: 1000 }, (_, index) => `${message}-${index}-${'x'.repeat(900)}`)
        forger.assign({
          targetInstanceId: 'b',
          subscriptions: [...cluster.member('b').running, ...names],
          epoch: 1n,
          revision: 1000 + message,
        })
        forger.assign({ targetInstanceId: `nobody-${message}`, subscriptions: names, epoch: 1n, revision: 1000 })
        await cluster.pass(0.1)
      }
      await cluster.pass(10)
      const heartbeats = cluster.member('b').transport.sent.filter(({ topic }) => topic.endsWith('heartbeat'))
      expect(heartbeats.length).toBeGreaterThan(5)
      expect(Math.max(...heartbeats.map(({ message }) => JSON.stringify(message).length))).toBeLessThan(150_000)
    }))
})

describe('garbage', () => {
  it('of every kind at a high rate ends no run and fills no log', () =>
    besieged(async (cluster, forger) => {
      const runs = cluster.recorder.runs.length
      const garbage = [
        null,
        0,
        'text',
        [],
        {},
        { instance_id: 'b' },
        { instance_id: '__proto__', timestamp: 'never' },
        JSON.parse('{"__proto__":{"instance_id":"b"}}'),
      ]
      const huge = {
        instance_id: 'big',
        timestamp: '2026-01-01T00:00:00Z',
        subscriptions: Array.from({ length: 20_000 }, (_, index) => `s${index}`),
      }
      for (let tenth = 0; tenth < 100; tenth++) {
        const now = tenth % 10 === 0 ? [...garbage, huge] : garbage
        for (const kind of ['heartbeat', 'shutdown', 'work_assignment']) for (const one of now) forger.send(kind, one)
        await cluster.pass(0.1)
      }
      expect(cluster.recorder.runs.length).toBe(runs)
      expect(cluster.log.filter(({ level }) => level === 'warn' || level === 'error').length).toBeLessThan(20)
    }))
})
