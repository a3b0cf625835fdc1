import { describe, expect, it } from 'vitest'
import { type Cluster, type Member, simulate } from './cluster.test.harness.js'

/** Starts `member`; tells when that was done, and what had been sent by then. */
function start(cluster: Cluster, member: Member): { doneAt: number | null; heartbeats: number; hasTold: boolean } {
  const heartbeatsSent = (): number => member.transport.sent.filter(({ topic }) => topic.endsWith('.heartbeat')).length
  const seen = { doneAt: null as number | null, heartbeats: 0, hasTold: false }
  member.worker.onEvent(({ type }) => {
    if (type === 'started') seen.hasTold = heartbeatsSent() > 0
  })
  void member.worker.start().then(() => Object.assign(seen, { doneAt: cluster.clock.monotonicSeconds(), heartbeats: heartbeatsSent() }))
  return seen
}

describe('start()', () => {
  it('resolves, and tells so, once the first heartbeat is out', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.transport.beforePublish = () => new Promise((resolve) => void cluster.clock.setTimer(2, resolve))
      const seen = start(cluster, a)
      await cluster.pass(1.9)
      expect(seen).toMatchObject({ doneAt: null, hasTold: false })
      await cluster.pass(0.2)
      expect(seen).toEqual({ doneAt: 2, heartbeats: 1, hasTold: true })
    }))

  it('resolves all the same when the first heartbeat cannot be sent, which is reported and tried again', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.transport.beforePublish = () => {
        throw new Error('no bus')
      }
      const seen = start(cluster, a)
      await cluster.pass(0)
      expect(seen).toEqual({ doneAt: 0, heartbeats: 0, hasTold: false })
      expect(a.worker.health().problems.map(({ code }) => code)).toEqual(['publish_failing'])
      a.transport.beforePublish = () => undefined
      await cluster.pass(10)
      expect(a.worker.health().status).toBe('ok')
      expect(a.running).toEqual(['s00'])
    }))

  it('resolves within a third of the heartbeat timeout though the transport hangs, and stands for election then', () =>
    simulate({ subscriptions: 1, defaults: { heartbeatTimeoutSeconds: 15 } }, async (cluster) => {
      const a = cluster.add('a')
      a.transport.beforePublish = () => new Promise(() => {})
      const seen = start(cluster, a)
      await cluster.pass(6)
      expect(seen).toMatchObject({ doneAt: 5, heartbeats: 0 })
      expect(a.elector.isLeader).toBe(true)
      a.transport.beforePublish = () => undefined
      await cluster.pass(1)
    }))

  it('takes no part when stop() was called before the first heartbeat was out', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.transport.beforePublish = () => new Promise((resolve) => void cluster.clock.setTimer(1, resolve))
      const seen = start(cluster, a)
      await cluster.pass(0.5)
      await cluster.stop('a')
      expect(seen.doneAt).not.toBe(null)
      expect(a.events.map(({ type }) => type)).toEqual(['stopping', 'stopped'])
      expect(cluster.election.currentLeader).toBe(null)
      expect(a.transport.sent.at(-1)?.message).toMatchObject({ subscriptions: [], is_leader: false })
    }))
})
