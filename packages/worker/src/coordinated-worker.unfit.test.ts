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
