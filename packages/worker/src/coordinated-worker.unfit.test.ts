import { describe, expect, it } from 'vitest'
import { simulate } from './cluster.test.harness.js'

describe('an instance that dies idle', () => {
  it('does not keep what it is given: it is found out by not claiming it, long before the heartbeat timeout', () =>
    simulate({ subscriptions: 5 }, async (cluster) => {
      await cluster.start('a')
      await cluster.start('b')
      await cluster.until(() => cluster.isBalanced)
      await cluster.pass(10)
      await cluster.start('c')
      await cluster.pass(0.5)
      cluster.crash('c')
      // The members settle, and the dead one is due for a share.
      await cluster.pass(8)
      expect(cluster.isComplete).toBe(true)
      expect(cluster.recorder.longestGap()).toBeLessThan(3.5)
    }))
})

describe('an instance that can be heard but cannot claim', () => {
  it('is given nothing for a while, and the leader says what runs nowhere meanwhile', () =>
    simulate({ subscriptions: 5 }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.start('b')
      await cluster.until(() => cluster.isBalanced)
      await cluster.pass(10)
      const c = cluster.add('c')
      c.ownership?.inner.disconnect()
      await c.worker.start()
      await cluster.until(() => c.worker.health().problems.some(({ code }) => code === 'claims_failing'))
      const seen = await cluster.until(() => a.worker.health().problems.some(({ code }) => code === 'unowned'))
      expect(seen).toBeLessThan(8)
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(8)
      expect(c.worker.health().isReady).toBe(false)
      await cluster.pass(40)
      expect(cluster.isComplete).toBe(true)

      c.ownership?.inner.reconnect()
      await cluster.until(() => c.running.length > 0)
      expect(cluster.isComplete).toBe(true)
    }))
})

describe('a leader whose own work does not end with its term', () => {
  it('does not lead until it has ended, says so, and another one does the work', () =>
    simulate({ subscriptions: 3, defaults: { drainTimeoutSeconds: 5 } }, async (cluster) => {
      const did: string[] = []
      let finish = (): void => {}
      const a = await cluster.start('a', {
        leaderWork: () => {
          did.push('a')
          return new Promise((resolve) => (finish = resolve))
        },
      })
      await cluster.pass(10)
      await a.elector.inner.forceLoseLeadership()
      await cluster.pass(1)
      expect(cluster.leader?.id, 'wins again, while its old work goes on').toBe('a')
      await cluster.start('b', { leaderWork: async () => void did.push('b') })
      await cluster.until(() => did.includes('b'), { withinSeconds: 30 })
      await cluster.until(() => a.worker.health().problems.some(({ code }) => code === 'leader_work_stuck'), { withinSeconds: 30 })
      await cluster.pass(60)
      expect(cluster.leader?.id).toBe('b')
      finish()
      await cluster.until(() => a.worker.health().status === 'ok', { withinSeconds: 30 })
      expect(did).toEqual(['a', 'b'])
    }))
})

describe('an epoch that no leader has any more', () => {
  it('stops counting when nothing was heard of it for three heartbeat timeouts, as after a restored database or a forged message', () =>
    simulate({ subscriptions: 6 }, async (cluster) => {
      for (const id of ['a', 'b', 'c']) await cluster.start(id)
      await cluster.until(() => cluster.isBalanced)
      await cluster.pass(10)
      cluster.bus.send('forger', '__eventsource_coordination.work_assignment', {
        target_instance_id: 'nobody',
        subscriptions: [],
        source_instance_id: 'forger',
        assigned_at: '2026-01-01T00:00:00+00:00',
        epoch: '18446744073709551615',
      })
      await cluster.pass(1)
      await cluster.stop('b')
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(50)
    }))
})
