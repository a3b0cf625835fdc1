import { describe, expect, it } from 'vitest'
import { type Cluster, simulate, slowToStop } from './cluster.test.harness.js'

const whyIdle = (cluster: Cluster, id: string): string | null => cluster.member(id).worker.status().whyIdle

describe('why an instance is idle', () => {
  it('is said in every situation, and is nothing once it runs something', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = cluster.add('a')
      expect(whyIdle(cluster, 'a')).toBe('The worker is new')
      void a.worker.start()
      expect(whyIdle(cluster, 'a')).toBe('The worker is starting')
      await cluster.pass(1)
      expect(whyIdle(cluster, 'a')).toBe(
        'It has not been assigned anything yet. a leads since 2026-01-01T00:00:00.000Z. This leader is new and listens first',
      )
      await cluster.pass(5)
      expect(whyIdle(cluster, 'a')).toBe(null)
      for (const id of ['b', 'c']) await cluster.start(id)
      await cluster.pass(5)
      expect(whyIdle(cluster, 'c')).toBe('The leader has assigned nothing to it.')
      void a.worker.stop()
      expect(whyIdle(cluster, 'a')).toBe('The worker is stopping')
      await cluster.pass(1)
      expect(whyIdle(cluster, 'a')).toBe('The worker is stopped')
      cluster.members.delete('a')
    }))

  it('names who holds what it was denied', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      const stranger = {}
      cluster.claims.take('s00', stranger, 'stranger')
      a.ownership!.inner.observe = async () => new Map()
      void a.worker.start()
      await cluster.pass(5)
      expect(whyIdle(cluster, 'a')).toBe('Its claims are denied: s00 is held by stranger')
      cluster.claims.free('s00', stranger)
      await cluster.pass(5)
      expect(whyIdle(cluster, 'a')).toBe(null)
    }))

  it('names what the plan holds back, and what is wrong', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      cluster.claims.take('s00', {}, 'ghost')
      await cluster.start('a')
      await cluster.pass(5)
      expect(whyIdle(cluster, 'a')).toBe('The leader has assigned nothing to it. s00: ghost holds it, but is not heard')
      cluster.claims.free('s00', {})
    }).catch((error: unknown) => expect(String(error)).toContain('Claims left: s00')))

  it('says that it is about to start, while a claim is on its way', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.ownership!.fault.before = (method) =>
        method === 'claim' ? new Promise((resolve) => void cluster.clock.setTimer(1, resolve)) : undefined
      void a.worker.start()
      await cluster.pass(2.5)
      expect(whyIdle(cluster, 'a')).toBe('Its subscriptions are about to start.')
      expect(a.worker.status().work).toMatchObject([{ subscription: 's00', phase: 'claiming' }])
    }))
})

describe('the phases of a subscription', () => {
  it('are told as they are, each with when it began', () =>
    simulate({ subscriptions: 2, run: slowToStop(3) }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.pass(10)
      const [first] = a.worker.status().work
      expect(first).toMatchObject({ phase: 'running', since: new Date('2026-01-01T00:00:02.000Z') })
      await cluster.start('b')
      await cluster.pass(4)
      expect(
        a.worker
          .status()
          .work.map(({ phase }) => phase)
          .sort(),
      ).toEqual(['running', 'stopping'])
      await cluster.pass(3)
      expect(a.worker.status().work.map(({ phase }) => phase)).toEqual(['running'])
    }))
})

describe('probes', () => {
  it('find a worker ready only while it takes part', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      expect(a.worker.health()).toEqual({ status: 'ok', isLive: true, isReady: false, problems: [] })
      void a.worker.start()
      await cluster.pass(1)
      expect(a.worker.health()).toEqual({ status: 'ok', isLive: true, isReady: true, problems: [] })
      await cluster.stop('a')
      expect(a.worker.health()).toMatchObject({ isReady: false, isLive: true })
    }))

  it('are told of a change once, also when it is over', () =>
    simulate({ subscriptions: 1, defaults: { capacity: 0 } }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.pass(60)
      await cluster.start('b', { capacity: 5 })
      await cluster.pass(60)
      expect(a.eventsOf('health_changed').map(({ status, problems }) => [status, ...problems])).toEqual([
        ['degraded', 'unassigned'],
        ['ok'],
      ])
    }))
})
