import { describe, expect, it } from 'vitest'
import { BUS_SECONDS, type Cluster, names, simulate, slowToStop } from './cluster.test.harness.js'

/** Starts `ids` and lets them settle. */
async function begin(cluster: Cluster, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cluster.start(id)
  await cluster.until(() => cluster.isBalanced)
  await cluster.pass(10)
}

/** The subscriptions that began to run at or after `since`, with where. */
function startsSince(cluster: Cluster, since: number): string[] {
  return cluster.recorder.runs
    .filter(({ startedAt }) => startedAt >= since)
    .map(({ subscription, member }) => `${subscription}@${member.id}`)
}

describe('a rolling restart (A1)', () => {
  for (const hasOwnership of [true, false]) {
    const mode = hasOwnership ? 'with claims' : 'with a bus only'
    for (const keepsIds of [true, false]) {
      it(`starts each subscription three times at most and ends balanced, ${mode}, ${keepsIds ? 'ids unchanged' : 'with new ids'} (A1)`, () =>
        simulate({ subscriptions: 60, hasOwnership }, async (cluster) => {
          await begin(cluster, ['w1', 'w2', 'w3'])
          expect(cluster.counts).toEqual([20, 20, 20])
          for (const id of ['w1', 'w2', 'w3']) {
            await cluster.stop(id)
            await cluster.pass(3)
            await cluster.start(keepsIds ? id : `${id}-new`)
            await cluster.pass(7)
          }
          expect(cluster.counts).toEqual([20, 20, 20])
          expect(cluster.isComplete).toBe(true)
          expect(cluster.recorder.startsPerSubscription()).toEqual([3])
          expect(cluster.recorder.longestGap()).toBeLessThan(hasOwnership ? 0.01 : 2.1)
        }))
    }
  }

  it('moves nothing when an instance is back within restartGraceSeconds under its id, the leader included', () =>
    simulate({ subscriptions: 60, defaults: { restartGraceSeconds: 5 } }, async (cluster) => {
      await begin(cluster, ['w1', 'w2', 'w3'])
      for (const id of ['w1', 'w2', 'w3']) {
        const before = new Map(cluster.owners)
        await cluster.stop(id)
        await cluster.pass(2)
        await cluster.start(id)
        await cluster.pass(8)
        expect(cluster.owners).toEqual(before)
      }
      expect(cluster.recorder.startsPerSubscription()).toEqual([2])
    }))

  it('gives the work away once restartGraceSeconds are over', () =>
    simulate({ subscriptions: 6, defaults: { restartGraceSeconds: 5 } }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      await cluster.stop('b')
      expect(await cluster.until(() => cluster.isComplete)).toBeCloseTo(5, 0)
    }))
})

describe('joining (A2)', () => {
  it('moves exactly what the newcomer gets, and nothing between the others: 15/15 becomes 10/10/10 (A2)', () =>
    simulate({ subscriptions: 30 }, async (cluster) => {
      await begin(cluster, ['a', 'b'])
      const since = cluster.clock.monotonicSeconds()
      await cluster.start('c')
      await cluster.pass(10)
      expect(cluster.counts).toEqual([10, 10, 10])
      const starts = startsSince(cluster, since)
      expect(starts).toHaveLength(10)
      expect(starts.every((start) => start.endsWith('@c'))).toBe(true)
    }))

  it('balances four items on one instance to two and two (A2)', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await begin(cluster, ['a'])
      await cluster.start('b')
      await cluster.pass(10)
      expect(cluster.counts).toEqual([2, 2])
    }))

  it('gives idle workers nothing, and calls that normal (A8)', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c', 'd'])
      expect(cluster.counts.toSorted()).toEqual([0, 0, 1, 1])
      expect([...cluster.members.values()].map(({ worker }) => worker.health().status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    }))

  it('has nothing to do without subscriptions (A8)', () =>
    simulate({ subscriptions: 0 }, async (cluster) => {
      await cluster.start('a')
      await cluster.pass(30)
      expect(cluster.member('a').worker.health().status).toBe('ok')
      expect(cluster.member('a').worker.plan()?.moves).toEqual([])
    }))

  it('makes one plan of several joins within the settle window', () =>
    simulate({ subscriptions: 40, defaults: { settleSeconds: 4 } }, async (cluster) => {
      const leader = await cluster.start('a')
      await cluster.pass(20)
      const since = cluster.clock.monotonicSeconds()
      for (const id of ['b', 'c', 'd']) {
        await cluster.start(id)
        await cluster.pass(2)
      }
      expect(startsSince(cluster, since)).toEqual([])
      await cluster.pass(10)
      expect(cluster.counts).toEqual([10, 10, 10, 10])
      expect(startsSince(cluster, since)).toHaveLength(30)
      // What is to go, and where each goes once it is free.
      expect(
        leader.eventsOf('planned').filter(({ at, plan }) => at >= since && plan.moves.some(({ reason }) => reason === 'balance')),
      ).toHaveLength(1)
    }))

  it('balances a cluster that never settles within five settle windows', () =>
    simulate({ subscriptions: 12, defaults: { settleSeconds: 2 } }, async (cluster) => {
      await begin(cluster, ['a'])
      await cluster.start('b')
      const flapping = async (): Promise<void> => {
        await cluster.start('x', { mayRun: () => false })
        await cluster.pass(1)
        await cluster.stop('x')
        await cluster.pass(0.5)
      }
      for (let round = 0; round < 8; round++) await flapping()
      expect(cluster.counts).toEqual([6, 6])
    }))

  it('takes no more than maxMovesPerRound at a time from living owners', () =>
    simulate({ subscriptions: 12, defaults: { maxMovesPerRound: 2 }, run: slowToStop(3) }, async (cluster) => {
      await begin(cluster, ['a'])
      await cluster.start('b')
      let most = 0
      await cluster.until(() => {
        most = Math.max(
          most,
          cluster
            .member('a')
            .worker.status()
            .work.filter(({ phase }) => phase === 'stopping').length,
        )
        return cluster.isBalanced
      })
      expect(most).toBe(2)
      expect(cluster.counts).toEqual([6, 6])
    }))
})

describe('handing over', () => {
  it('starts in the new owner the moment the old one has let go', () =>
    simulate({ subscriptions: 4, run: slowToStop(3.3) }, async (cluster) => {
      await begin(cluster, ['a'])
      const since = cluster.clock.monotonicSeconds()
      await cluster.start('b')
      await cluster.until(() => cluster.isBalanced)
      expect(cluster.recorder.longestGap(since)).toBeLessThan(5 * BUS_SECONDS)
    }))

  it('keeps a subscription running in its old owner until that one has stopped, and tells it why', () =>
    simulate({ subscriptions: 2, run: slowToStop(5) }, async (cluster) => {
      await begin(cluster, ['a'])
      await cluster.start('b')
      await cluster.until(() => cluster.isBalanced)
      expect(cluster.lives[0]?.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['revoked'])
    }))

  it('says again what was lost on the way: a dropped assignment costs one interval (A4 d)', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await begin(cluster, ['a'])
      let dropped = 0
      await cluster.start('b')
      cluster.bus.faults = {
        delaySeconds: () => BUS_SECONDS,
        drop: ({ topic, to, message }) => {
          const isFirst =
            to === 'b' &&
            topic.endsWith('work_assignment') &&
            message.target_instance_id === 'b' &&
            (message.subscriptions as string[]).length > 0 &&
            dropped++ < 2
          return isFirst
        },
      }
      const since = cluster.clock.monotonicSeconds()
      await cluster.until(() => cluster.isBalanced)
      expect(dropped).toBeGreaterThanOrEqual(2)
      // The settle window, and then two intervals for the two that were lost.
      expect(cluster.clock.monotonicSeconds() - since).toBeLessThan(2 + 2 * 5 + 0.2)
    }))

  it('tells an instance again that it has nothing, so that it does not wait for what it was once promised', () =>
    simulate({ subscriptions: 1, defaults: { capacity: 1 } }, async (cluster) => {
      await begin(cluster, ['a'])
      const b = await cluster.start('b')
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS, drop: ({ to, topic }) => to === 'b' && topic.endsWith('work_assignment') }
      await cluster.pass(3)
      cluster.bus.faults = { delaySeconds: () => BUS_SECONDS }
      expect(b.worker.status().desired).not.toEqual(['s00'])
      await cluster.pass(15)
      expect(b.worker.status().desired).toEqual([])
    }))

  it('refuses an assignment of a lower epoch', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await begin(cluster, ['a', 'b'])
      cluster.crash('a')
      await cluster.until(() => cluster.isComplete)
      const { running } = cluster.member('b')
      const stranger = {
        target_instance_id: 'b',
        subscriptions: [],
        source_instance_id: 'a',
        assigned_at: '2026-01-01T00:00:00.000+00:00',
        epoch: '1',
        revision: 99,
      }
      cluster.bus.send('a', '__eventsource_coordination.work_assignment', stranger)
      await cluster.pass(1)
      expect(cluster.member('b').running).toEqual(running)
      expect(cluster.recorder.startsPerSubscription()).toEqual([1, 2])
    }))
})

describe('a crash', () => {
  it('of a follower is noticed in the claims within observeIntervalSeconds and crashGraceSeconds', () =>
    simulate({ subscriptions: 30 }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      cluster.crash('b')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(0.5 + 0.5 + 0.1)
      expect(cluster.isBalanced).toBe(true)
    }))

  it('of the leader is noticed as fast by the next one, which never saw its claims', () =>
    simulate({ subscriptions: 30 }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      expect(cluster.leader?.id).toBe('a')
      cluster.crash('a')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(0.5 + 0.5 + 0.1)
    }))

  it('is noticed by heartbeat timeout with a bus only', () =>
    simulate({ subscriptions: 30, hasOwnership: false }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      cluster.crash('b')
      const seconds = await cluster.until(() => cluster.isComplete)
      expect(seconds).toBeGreaterThan(10)
      expect(seconds).toBeLessThan(15.2)
    }))

  it('of one that comes back under its id within the lease leaves nothing behind', () =>
    simulate({ subscriptions: 6, leaseSeconds: 3 }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      cluster.crash('b')
      await cluster.pass(0.5)
      await cluster.start('b')
      await cluster.until(() => cluster.isBalanced)
      expect(cluster.counts).toEqual([2, 2, 2])
    }))

  it('moves only the work of the one that crashed', () =>
    simulate({ subscriptions: 30 }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      const lost = cluster.subscriptions.filter((name) => cluster.owners.get(name) === 'c')
      const since = cluster.clock.monotonicSeconds()
      cluster.crash('c')
      await cluster.pass(30)
      expect(
        startsSince(cluster, since)
          .map((start) => start.slice(0, 3))
          .sort(),
      ).toEqual(lost)
    }))
})

describe('a new leader that has heard nobody yet (A7)', () => {
  for (const hasOwnership of [true, false]) {
    it(`moves only what the dead leader held, ${hasOwnership ? 'with claims' : 'with a bus only'} (A7)`, () =>
      simulate({ subscriptions: 50, hasOwnership }, async (cluster) => {
        await cluster.start('w1')
        for (const id of ['w2', 'w3', 'w4', 'w5']) await cluster.start(id, { mayLead: false })
        await cluster.until(() => cluster.isBalanced)
        await cluster.pass(20)
        expect(cluster.counts).toEqual([10, 10, 10, 10, 10])
        const lost = cluster.subscriptions.filter((name) => cluster.owners.get(name) === 'w1')
        const since = cluster.clock.monotonicSeconds()
        cluster.crash('w1')
        // The others are heard one after the other, over five seconds.
        cluster.bus.faults = {
          delaySeconds: () => BUS_SECONDS,
          drop: ({ to, from }) =>
            to === 'w6' && from !== 'w6' && cluster.clock.monotonicSeconds() - since < (Number(from.slice(1)) - 1) * 1.25,
        }
        await cluster.start('w6')
        expect(cluster.leader?.id).toBe('w6')
        await cluster.pass(60)
        expect(startsSince(cluster, since).sort()).toEqual(lost.map((name) => `${name}@w6`))
        expect(cluster.counts).toEqual([10, 10, 10, 10, 10])
      }))
  }
})

describe('nobody fit (A8)', () => {
  it('leaves everything pending and visible while all are leaving, and gives it to the first who joins, within a tick (A8)', () =>
    simulate({ subscriptions: 6, run: slowToStop(20) }, async (cluster) => {
      await begin(cluster, ['a', 'b'])
      const a = cluster.member('a')
      void a.worker.stop()
      void cluster.member('b').worker.stop()
      await cluster.pass(21)
      cluster.members.clear()
      expect(a.worker.status().phase).toBe('stopped')
      await cluster.start('c')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(2.2)
    }))

  it('assigns nothing to one that drains, or to itself when it drains (A8)', () =>
    simulate({ subscriptions: 6, run: slowToStop(10) }, async (cluster) => {
      await begin(cluster, ['a', 'b', 'c'])
      const since = cluster.clock.monotonicSeconds()
      void cluster.member('a').worker.stop()
      void cluster.member('b').worker.stop()
      await cluster.pass(15)
      expect(startsSince(cluster, since).every((start) => start.endsWith('@c'))).toBe(true)
      cluster.members.delete('a')
      cluster.members.delete('b')
      expect(cluster.counts).toEqual([6])
    }))

  it('reports what exceeds all capacities loudly, as an event, in the log, in health and status, and gives it to who joins', () =>
    simulate({ subscriptions: 6, defaults: { capacity: 2 } }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.start('b')
      await cluster.pass(10)
      expect(cluster.counts).toEqual([2, 2])
      expect(
        a
          .eventsOf('unassigned_changed')
          .at(-1)
          ?.unassigned.map(({ reason }) => reason),
      ).toEqual(['no_capacity', 'no_capacity'])
      expect(a.worker.health().problems.map(({ code }) => code)).toEqual(['unassigned'])
      expect(a.worker.status().plan?.unassigned).toHaveLength(2)
      expect(cluster.log.filter(({ level, message }) => level === 'error' && message === 'Subscriptions that nobody can run')).not.toEqual(
        [],
      )
      await cluster.start('c')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(0.1)
      expect(a.eventsOf('unassigned_changed').at(-1)?.unassigned).toEqual([])
    }))

  it('gives a subscription only to whom it may run it, whatever the leader thinks', () =>
    simulate({ subscriptions: names(6) }, async (cluster) => {
      await cluster.start('a', { mayRun: (name) => name < 's03' })
      await cluster.start('b')
      await cluster.pass(10)
      expect(cluster.member('a').running).toEqual(['s00', 's01', 's02'])
      expect(cluster.member('b').running).toEqual(['s03', 's04', 's05'])
    }))

  it('gives a subscription to no instance that does not list it', () =>
    simulate({ subscriptions: names(4) }, async (cluster) => {
      await cluster.start('a')
      await cluster.start('b', { subscriptions: ['s00'] })
      await cluster.until(() => cluster.isComplete)
      await cluster.pass(10)
      expect(cluster.member('b').running).toEqual(['s00'])
    }))
})
