import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { at } from './manual-clock.test.harness.js'
import { PeerTable } from './peer-table.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { ShutdownNotification } from './shutdown-notification.js'

const LIMITS = { heartbeatTimeoutSeconds: 15, peerRetentionSeconds: 150, maxDrainSeconds: 3600, maxPeers: 1000, maxPeerBytes: 1_000_000 }

const beat = (instanceId: string, props: Partial<HeartbeatMessage> = {}): HeartbeatMessage =>
  new HeartbeatMessage({ instanceId, timestamp: at(0), ...props })

const manyNames = (count: number, of: string): string[] => Array.from({ length: count }, (_, index) => `${of}-${index}`)

describe('a flood of made-up peers', () => {
  it('fills the table and no more, costs none of those that were there before, and is gone when it ends', async () => {
    const observer = new Observer({ maxPeers: 1000 })
    for (const id of ['a', 'b', 'c']) await observer.beat(0, id, [`work of ${id}`])
    for (let round = 1; round <= 3; round++) {
      for (const id of ['a', 'b', 'c']) await observer.beat(round * 5, id, [`work of ${id}`])
      for (let index = 0; index < 10_000; index++) await observer.beat(round * 5, `ghost-${round}-${index}`)
    }
    expect(observer.coordinator.knownPeers.size).toBe(1000)
    expect(['a', 'b', 'c'].map((id) => observer.status(id))).toEqual(['healthy', 'healthy', 'healthy'])
    expect(await observer.beat(15, 'late')).toBe(false)
    for (let time = 20; time <= 200; time += 5) {
      for (const id of ['a', 'b', 'c', 'late']) await observer.beat(time, id, [`work of ${id}`])
      await observer.check(time)
    }
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(['a', 'b', 'c', 'late'])
    expect(observer.orphans()).toEqual({})
    expect(observer.logger.lines.length).toBeLessThan(20)
  })

  it('logs no more than a few lines a minute of each kind, whatever it makes up', async () => {
    const observer = new Observer({ incarnation: 'mine' })
    for (let index = 0; index < 2000; index++) {
      const id = `ghost-${index % 50}`
      await observer.beat(0, id, [], { incarnation: `i${index}`, sequence: index })
      for (let sign = 1; sign < 5; sign++) await observer.beat(0, id, [], { incarnation: `i${index - 50}`, sequence: 5000 + index + sign })
      await observer.goodbye(0, id, [], { incarnation: `i${index}`, sequence: index + 1 })
      await observer.beat(0, 'me', [], { incarnation: observer.coordinator.incarnation ?? '', sequence: 10_000 + index })
    }
    const kinds = new Map<string, number>()
    for (const { message } of observer.logger.lines) kinds.set(message, (kinds.get(message) ?? 0) + 1)
    expect(kinds.size).toBeGreaterThan(3)
    expect(Math.max(...kinds.values())).toBe(20)
  })
})

describe('the memory of the peer table', () => {
  it('is bounded while new peers list as much as a message can', () => {
    const table = new PeerTable(LIMITS)
    table.heartbeat(beat('real', { subscriptions: manyNames(1000, 'real') }), 0)
    for (let index = 0; index < 500; index++) {
      const message = beat(`ghost-${index}`, { subscriptions: manyNames(700, `ghost-${index}`), declined: manyNames(700, 'x') })
      table.heartbeat(message, 0)
      expect(table.kept.bytes).toBeLessThanOrEqual(LIMITS.maxPeerBytes)
    }
    expect(table.get('real')?.subscriptions).toHaveLength(1000)
    expect(table.evictedCount).toBeGreaterThan(0)
  })

  it('is bounded while known peers list more and more, and who came first stays', () => {
    const table = new PeerTable(LIMITS)
    for (let index = 0; index < 500; index++) table.heartbeat(beat(`ghost-${index}`, { incarnation: 'i', sequence: 1 }), 0)
    const receipts = new Set<string>()
    for (let index = 499; index >= 0; index--) {
      receipts.add(
        table.heartbeat(beat(`ghost-${index}`, { incarnation: 'i', sequence: 2, subscriptions: manyNames(200, `ghost-${index}`) }), 0),
      )
      expect(table.kept.bytes).toBeLessThanOrEqual(LIMITS.maxPeerBytes)
    }
    expect(receipts).toContain('newer')
    expect(table.get('ghost-0')?.subscriptions).toHaveLength(200)
    expect(table.kept.peers).toBeLessThan(500)
  })

  it('is bounded while peers leave with a lot to say', () => {
    const table = new PeerTable(LIMITS)
    for (let index = 0; index < 200; index++) {
      const message = new ShutdownNotification({
        ...{ instanceId: `ghost-${index}`, intent: ShutdownIntent.Graceful, initiatedAt: at(0), expectedCompletionAt: at(30) },
        metadata: { text: 'x'.repeat(10_000) },
      })
      table.goodbye(message, index)
      expect(table.kept.bytes).toBeLessThanOrEqual(LIMITS.maxPeerBytes)
    }
    expect(table.kept.tombstones).toBeGreaterThan(0)
  })

  it('goes to those that are there, at the cost of those that are gone', () => {
    const table = new PeerTable(LIMITS)
    const receipts = ['a', 'b', 'c', 'd'].map((id, index) => table.heartbeat(beat(id, { subscriptions: manyNames(1500, id) }), index * 20))
    expect(receipts).toEqual(['newer', 'newer', 'newer', 'newer'])
    expect([...table.all().keys()]).toEqual(['c', 'd'])
  })

  it('refuses a message that is larger than all there is', () => {
    const table = new PeerTable(LIMITS)
    table.heartbeat(beat('a', { subscriptions: ['s'] }), 0)
    expect(table.heartbeat(beat('b', { subscriptions: manyNames(10_000, 'b') }), 0)).toBe('full')
    expect([...table.all().keys()]).toEqual(['a'])
  })

  it('is free again once they are gone', () => {
    const table = new PeerTable(LIMITS)
    for (let index = 0; index < 100; index++) table.heartbeat(beat(`ghost-${index}`, { declined: manyNames(50, 'x') }), 0)
    table.advance(20)
    for (const change of table.takeChanges()) expect(change.status).toBe('stale')
    expect(table.forget(200)).toHaveLength(100)
    expect(table.kept).toEqual({ peers: 0, bytes: 0, tombstones: 0 })
  })
})
