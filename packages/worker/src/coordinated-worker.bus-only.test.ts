import { type AssignmentPlanner, stickyPlanner } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { BUS_SECONDS, type Cluster, seededRandom, simulate, slowToStop } from './cluster.test.harness.js'
import { ReferencePeer } from './reference-peer.test.harness.js'

async function settle(cluster: Cluster, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cluster.start(id)
  await cluster.until(() => cluster.isBalanced)
  await cluster.pass(10)
}

describe('with a bus only', () => {
  it('runs nothing twice through joins, moves and goodbyes, with slow runs (cooperative rule)', () =>
    simulate({ subscriptions: 24, hasOwnership: false, run: slowToStop(3) }, async (cluster) => {
      await settle(cluster, ['a', 'b'])
      for (const id of ['c', 'd', 'e']) {
        await cluster.start(id)
        await cluster.pass(4)
      }
      await cluster.until(() => cluster.isBalanced)
      for (const id of ['a', 'c']) {
        await cluster.stop(id)
        await cluster.pass(1)
      }
      await cluster.until(() => cluster.isBalanced)
      expect(cluster.counts).toEqual([8, 8, 8])
    }))

  it('listens for a heartbeat timeout after the start, because it cannot see who runs what', () =>
    simulate({ subscriptions: 4, hasOwnership: false }, async (cluster) => {
      await cluster.start('a')
      expect(await cluster.until(() => cluster.isComplete)).toBeCloseTo(15, 0)
    }))

  it('waits for whoever acts on the last word of the leader before, when the leader changes in the middle of an assignment', () =>
    simulate({ subscriptions: 3, hasOwnership: false }, async (cluster) => {
      for (const id of ['a', 'b', 'c']) await cluster.start(id)
      await cluster.pass(14.9)
      // The first word of the leader reaches b late and c never; then another one leads.
      cluster.bus.faults = {
        delaySeconds: ({ to, topic }) => (topic.endsWith('work_assignment') && to === 'b' ? 1 : BUS_SECONDS),
        drop: ({ to, topic }) => topic.endsWith('work_assignment') && to === 'c',
      }
      await cluster.until(() => cluster.owners.size > 0, { stepSeconds: 0.001 })
      void cluster.leader?.elector.inner.forceLoseLeadership()
      await cluster.pass(1.5)
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS }
      await cluster.until(() => cluster.isBalanced)
    }))

  it('waits for one that is not heard at the moment, when the leader changes: it may act on a word of the one before', () =>
    simulate({ subscriptions: 3, hasOwnership: false }, async (cluster) => {
      const greedy: AssignmentPlanner = (input) =>
        stickyPlanner({ ...input, instances: input.instances.filter(({ instanceId }) => instanceId === 'c') })
      await cluster.start('a')
      await cluster.start('b', { mayLead: false })
      await cluster.start('c', { planner: greedy })
      await cluster.pass(14.9)
      // What c would learn of the first plan is lost until shortly after it leads itself; it only hears that the leader leaves.
      cluster.bus.faults = {
        delaySeconds: () => BUS_SECONDS,
        drop: ({ to, from, topic }) => to === 'c' && from !== 'c' && !topic.endsWith('shutdown'),
      }
      await cluster.until(() => cluster.owners.get('s01') === 'b', { stepSeconds: 0.001 })
      await cluster.stop('a')
      await cluster.pass(0.5)
      expect(cluster.leader?.id).toBe('c')
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS }
      await cluster.until(() => cluster.isComplete)
      expect(cluster.recorder.runsOf('s01')).toHaveLength(1)
    }))

  it('does not give to a newcomer what was given away a moment ago, though its own words come back late', () =>
    simulate({ subscriptions: 8, hasOwnership: false, defaults: { settleSeconds: 0 } }, async (cluster) => {
      for (const id of ['a', 'b', 'd']) await cluster.start(id)
      await cluster.pass(14)
      // The leader hears everybody late, itself included; they hear it at once.
      cluster.bus.faults = { delaySeconds: ({ to, topic }) => (to === 'a' && !topic.endsWith('shutdown') ? 0.4 : BUS_SECONDS) }
      await cluster.until(() => cluster.owners.size === 8, { stepSeconds: 0.001 })
      const c = await cluster.start('c')
      cluster.bus.faults = { delaySeconds: ({ to, from }) => (to === 'a' && from !== 'c' ? 0.4 : BUS_SECONDS) }
      await cluster.until(() => c.running.length > 0)
      await cluster.until(() => cluster.isBalanced)
    }))

  it('stops everything, as lost, once it hears not even itself for so long that others take it for gone; and goes on when it hears again', () =>
    simulate({ subscriptions: 6, hasOwnership: false }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c'])
      const c = cluster.member('c')
      c.transport.inner.disconnect()
      await cluster.pass(16)
      expect(c.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['lost', 'lost'])
      await cluster.until(() => cluster.isComplete)
      c.transport.inner.reconnect()
      await cluster.until(() => cluster.isBalanced)
      expect(cluster.counts).toEqual([2, 2, 2])
    }))

  it('does the same after a pause longer than the timeout (W3)', () =>
    simulate({ subscriptions: 6, hasOwnership: false }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c'])
      const b = cluster.pause('b')
      // A process that does not run cannot end its runs either: nobody else may write in its name, which only a token can prevent.
      cluster.recorder.died(b)
      await cluster.pass(40)
      expect(cluster.counts).toEqual([3, 0, 3])
      cluster.resume('b')
      await cluster.pass(0.01)
      expect(b.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['lost', 'lost'])
      await cluster.until(() => cluster.isBalanced)
    }))

  it('does not fence itself on a transport that never returns own messages', () =>
    simulate({ subscriptions: 6, hasOwnership: false }, async (cluster) => {
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS, drop: ({ from, to }) => from === to }
      await settle(cluster, ['a', 'b'])
      await cluster.pass(60)
      expect(cluster.recorder.startsPerSubscription()).toEqual([1])
      expect(cluster.member('a').worker.health().status).toBe('ok')
    }))

  it('gives the work of the only other instance away when that one dies, on a transport that never returns own messages', () =>
    simulate({ subscriptions: 6, hasOwnership: false }, async (cluster) => {
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS, drop: ({ from, to }) => from === to }
      await settle(cluster, ['a', 'b'])
      cluster.crash('b')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(16)
    }))

  for (const seed of [1, 2, 3]) {
    it(`runs nothing twice though messages arrive repeated and in any order (seed ${seed})`, () =>
      simulate({ subscriptions: 12, hasOwnership: false, run: slowToStop(1) }, async (cluster) => {
        const random = seededRandom(seed)
        cluster.bus.faults = { delaySeconds: () => random() * 0.5, copies: () => (random() < 0.2 ? 2 : 1) }
        await settle(cluster, ['a', 'b'])
        await cluster.start('c')
        await cluster.pass(10)
        await cluster.stop('a')
        await cluster.start('d')
        await cluster.until(() => cluster.isBalanced)
      }))
  }
})

for (const hasOwnership of [true, false]) {
  describe(`next to an instance of the reference library, ${hasOwnership ? 'with claims' : 'with a bus only'}`, () => {
    it('never takes what it runs while it sends heartbeats, and takes it once it is gone', () =>
      simulate({ subscriptions: 6, hasOwnership, defaults: { coldStartSeconds: 15 } }, async (cluster) => {
        const peer = new ReferencePeer(cluster, 'reference', { runs: ['s00', 's01', 's02', 's03', 's04'], obeys: false })
        await cluster.pass(1)
        for (const id of ['a', 'b']) await cluster.start(id)
        await cluster.pass(100)
        expect([...cluster.owners.keys()]).toEqual(['s05'])
        peer.die()
        const seconds = await cluster.until(() => cluster.isComplete)
        expect(seconds).toBeGreaterThan(10)
        expect(seconds).toBeLessThan(15.2)
      }))

    it('shares the work with it by assignments, one owner at a time, both ways', () =>
      simulate({ subscriptions: 6, hasOwnership }, async (cluster) => {
        await settle(cluster, ['a'])
        const peer = new ReferencePeer(cluster, 'reference')
        await cluster.pass(30)
        expect(peer.running.size).toBe(3)
        expect(cluster.counts).toEqual([3])
        expect(cluster.member('a').running.filter((name) => peer.running.has(name))).toEqual([])
        await cluster.start('b')
        await cluster.pass(30)
        expect(peer.running.size).toBe(2)
        expect(cluster.counts).toEqual([2, 2])
        peer.leave()
        // Its drain of 30 s, and a look at the peers every 2.5 s.
        expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(33)
      }))

    it('does not start what it lists, even on the word of a leader', () =>
      simulate({ subscriptions: 2, hasOwnership }, async (cluster) => {
        const peer = new ReferencePeer(cluster, 'reference', { runs: ['s00'], obeys: false })
        await cluster.start('a', { mayLead: false })
        await cluster.pass(6)
        cluster.bus.send('x', '__eventsource_coordination.work_assignment', {
          ...{
            target_instance_id: 'a',
            subscriptions: ['s00', 's01'],
            source_instance_id: 'x',
            assigned_at: '2026-01-01T00:00:00.000+00:00',
            epoch: '1',
          },
        })
        await cluster.pass(5)
        expect([...cluster.owners.keys()]).toEqual(['s01'])
        peer.die()
        await cluster.until(() => cluster.isComplete)
      }))
  })
}
