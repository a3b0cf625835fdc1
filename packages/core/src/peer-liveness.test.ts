import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'

describe('liveness', () => {
  it('counts from arrival, whatever the clock of the peer says', async () => {
    const observer = new Observer()
    await observer.beat(0, 'behind', [], { stamp: -3600 })
    await observer.beat(0, 'ahead', [], { stamp: 3600 })
    expect(await observer.check(15)).toEqual([])
    expect(observer.coordinator.healthyPeerCount).toBe(2)
    expect(await observer.check(15.001)).toEqual(['behind', 'ahead'])
  })

  it('is not moved by a change of this machine’s wall clock', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    observer.clock.wallOffsetSeconds = 86_400
    expect(observer.status('b', 10)).toBe('healthy')
    observer.clock.wallOffsetSeconds = -86_400
    expect(observer.status('b', 20)).toBe('stale')
  })

  it.each([5, 15, 60])('uses a timeout of %s s for status, count, orphans and timeouts alike (C7)', async (heartbeatTimeoutSeconds) => {
    const observer = new Observer({ heartbeatTimeoutSeconds })
    await observer.beat(100, 'b', ['s'])
    const agree = async (age: number, isStale: boolean): Promise<void> => {
      observer.clock.seconds = 100 + age
      expect(observer.coordinator.healthyPeerCount).toBe(isStale ? 0 : 1)
      expect(observer.status('b')).toBe(isStale ? 'stale' : 'healthy')
      expect(observer.coordinator.knownPeers.get('b')?.status).toBe(isStale ? 'stale' : 'healthy')
      expect(observer.orphans()).toEqual(isStale ? { b: ['s'] } : {})
      expect(await observer.coordinator.checkPeerTimeouts()).toEqual(isStale ? ['b'] : [])
    }
    await agree(heartbeatTimeoutSeconds / 3, false)
    // An age of exactly the timeout is not timed out yet.
    await agree(heartbeatTimeoutSeconds, false)
    await agree(heartbeatTimeoutSeconds + 0.001, true)
    await agree(heartbeatTimeoutSeconds * 2, true)
  })

  it('takes an age for the timeout that only rounding makes larger (C7)', async () => {
    const observer = new Observer({ heartbeatTimeoutSeconds: 0.3 })
    await observer.beat(0, 'b')
    expect(0.1 + 0.2).toBeGreaterThan(0.3)
    expect(observer.status('b', 0.1 + 0.2)).toBe('healthy')
  })

  it('reports an outage once however often it is checked, and the next one again (C6)', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    for (let second = 1; second <= 20; second++) expect(await observer.check(second)).toEqual(second > 15 ? ['b'] : [])
    expect(observer.timeouts).toEqual(['b'])
    await observer.beat(20, 'b')
    for (let second = 21; second <= 60; second++) await observer.check(second)
    expect(observer.timeouts).toEqual(['b', 'b'])
    expect(observer.story()).toEqual(['b: unknown > healthy', 'b: healthy > stale', 'b: stale > healthy', 'b: healthy > stale'])
    expect(observer.logger.messages('warn')).toEqual(['Peers have timed out', 'Peers have timed out'])
  })

  it('says nothing of an outage that no check saw', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    expect(observer.status('b', 20)).toBe('stale')
    await observer.beat(21, 'b')
    await observer.check(22)
    expect(observer.timeouts).toEqual([])
    expect(observer.story()).toEqual(['b: unknown > healthy'])
  })

  it('does not report a peer that recovers while the callbacks for another one run', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    await observer.beat(0, 'c')
    observer.coordinator.onPeerTimeout(async (id) => void (id === 'b' && (await observer.beat(20, 'c'))))
    expect(await observer.check(20)).toEqual(['b', 'c'])
    expect(observer.timeouts).toEqual(['b'])
    expect(observer.story()).not.toContain('c: healthy > stale')
  })

  it('reports each change once when two checks overlap', async () => {
    const observer = new Observer()
    for (const id of ['b', 'c', 'd']) await observer.beat(0, id)
    observer.coordinator.onPeerTimeout(() => new Promise((resolve) => setImmediate(resolve)))
    observer.clock.seconds = 20
    await Promise.all([observer.coordinator.checkPeerTimeouts(), observer.coordinator.checkPeerTimeouts()])
    expect(observer.timeouts.sort()).toEqual(['b', 'c', 'd'])
  })

  it('gives snapshots that stay as they were', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'])
    const { knownPeers } = observer.coordinator
    const before = observer.coordinator.getPeer('b')
    await observer.beat(1, 'b', ['t'])
    await observer.beat(1, 'c')
    expect(knownPeers.size).toBe(1)
    expect(before).toMatchObject({
      status: 'healthy',
      subscriptions: ['s'],
      heardAtSeconds: 0,
      incarnation: null,
      shutdownNotification: null,
    })
    expect(observer.coordinator.getPeer('b')).toMatchObject({ subscriptions: ['t'], heardAtSeconds: 1 })
    expect(Object.isFrozen(before)).toBe(true)
  })
})

describe('draining', () => {
  it('lasts as long as announced from arrival, then ends once (C3)', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'])
    // Announced by a clock that is an hour ahead.
    await observer.goodbye(0, 'b', ['s'], { stamp: 3600 })
    for (const [second, status] of [
      [10, 'draining'],
      [29, 'draining'],
      [31, 'terminated'],
      [60, 'terminated'],
    ] as const) {
      expect(await observer.check(second)).toEqual([])
      expect(observer.status('b')).toBe(status)
      expect(observer.orphans()).toEqual({ b: ['s'] })
      expect(observer.coordinator.drainingPeers.map(({ instanceId }) => instanceId)).toEqual(status === 'draining' ? ['b'] : [])
    }
    expect(observer.timeouts).toEqual([])
    expect(observer.story()).toEqual(['b: unknown > healthy', 'b: healthy > draining', 'b: draining > terminated'])

    observer.coordinator.createHeartbeat({ subscriptions: ['s'] })
    expect(observer.orphans()).toEqual({})
    await observer.check(31 + 150)
    expect(observer.coordinator.getPeer('b')).toBeUndefined()
    expect(observer.story().at(-1)).toBe('b: terminated > unknown')
  })

  it('is over at its end, at once when there is nothing to wait for', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b')
    expect(observer.status('b', 29.999)).toBe('draining')
    expect(observer.status('b', 30)).toBe('terminated')
    await observer.goodbye(30, 'c', ['s'], { drain: 0 })
    await observer.goodbye(30, 'd', ['t'], { drain: -100 })
    expect([observer.status('c'), observer.status('d')]).toEqual(['terminated', 'terminated'])
    expect(observer.orphans()).toEqual({ c: ['s'], d: ['t'] })
    expect(observer.story()).toContain('c: unknown > terminated')
  })

  it('is capped, and not prolonged by repeating the goodbye (C3)', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', [], { drain: 10 * 365 * 86_400 })
    expect(observer.status('b', 3599)).toBe('draining')
    await observer.goodbye(3599, 'b', [], { drain: 10 * 365 * 86_400 })
    expect(observer.status('b', 3600)).toBe('terminated')

    const short = new Observer({ maxDrainSeconds: 5 })
    await short.goodbye(0, 'b')
    expect(short.status('b', 5)).toBe('terminated')
  })

  it('shows what a draining peer still says', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', ['s'])
    expect(observer.coordinator.getPeer('b')).toMatchObject({ lastHeartbeat: null, heardAtSeconds: 0 })
    await observer.beat(1, 'b', ['t'])
    expect(observer.coordinator.getPeer('b')).toMatchObject({
      lastHeartbeat: { subscriptions: ['t'] },
      subscriptions: ['s'],
      heardAtSeconds: 1,
    })
  })

  it('does not begin again for a life that has terminated, whatever it announces', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', [], { incarnation: 'i', sequence: 1 })
    await observer.goodbye(0, 'c', [])
    expect(await observer.goodbye(29, 'b', ['s'], { incarnation: 'i', sequence: 2 })).toBe(true)
    expect(await observer.goodbye(29, 'b', [], { incarnation: 'i', sequence: 2 })).toBe(false)
    expect(await observer.goodbye(60, 'b', [], { incarnation: 'i', sequence: 3 })).toBe(false)
    expect(await observer.goodbye(60, 'c', [], { stamp: 30 })).toBe(false)
    expect([observer.status('b'), observer.status('c')]).toEqual(['terminated', 'terminated'])
  })

  it('takes a goodbye from a peer that was never heard, and from one that is stale', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'new', ['s'])
    await observer.beat(0, 'old', ['t'])
    await observer.check(16)
    await observer.goodbye(16, 'old', ['t', 'u'])
    expect([observer.status('new'), observer.status('old')]).toEqual(['draining', 'draining'])
    expect(observer.orphans()).toEqual({ new: ['s'], old: ['t', 'u'] })
    expect(await observer.check(17)).toEqual([])
  })

  it('has windows that end in any order', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'late', [], { drain: 30 })
    await observer.goodbye(0, 'early', [], { drain: 10 })
    await observer.goodbye(0, 'middle', [], { drain: 20 })
    await observer.check(10)
    await observer.check(20)
    await observer.check(30)
    expect(observer.story().slice(3)).toEqual([
      'early: draining > terminated',
      'middle: draining > terminated',
      'late: draining > terminated',
    ])
  })
})

describe('forgetting', () => {
  it('shrinks the table to the live peers once their work is settled (C9)', async () => {
    const observer = new Observer()
    for (let index = 0; index < 20_000; index++) await observer.beat(0, `pod-${index}`, [`s${index % 100}`])
    const all = Array.from({ length: 100 }, (_, index) => `s${index}`)
    for (let second = 1; second <= 150; second++) {
      for (const live of ['x', 'y', 'z']) await observer.beat(second, live, live === 'x' && second === 100 ? all : [])
      await observer.check(second)
    }
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(['x', 'y', 'z'])
    expect(observer.timeouts).toHaveLength(20_000)
    expect(observer.orphans()).toEqual({})
  })

  it('waits for the work to be claimed, and then no longer', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s', 't'])
    await observer.check(1000)
    await observer.check(1001)
    expect(observer.orphans()).toEqual({ b: ['s', 't'] })
    await observer.beat(1001, 'c', ['s'])
    await observer.check(1001)
    expect(observer.status('b')).toBe('stale')
    await observer.beat(1002, 'c', ['s', 't'])
    await observer.check(1002)
    expect(observer.status('b')).toBe('unknown')
  })

  it('keeps a peer for the retention since it was last heard', async () => {
    const observer = new Observer({ peerRetentionSeconds: 100 })
    await observer.beat(50, 'b')
    await observer.check(149.9)
    expect(observer.status('b')).toBe('stale')
    await observer.check(150)
    expect(observer.status('b')).toBe('unknown')
    expect(observer.story().at(-1)).toBe('b: stale > unknown')
  })

  it('reports the end of a peer before it forgets it, even if no check came for long', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    await observer.goodbye(0, 'c')
    await observer.check(100_000)
    await observer.check(100_001)
    expect(observer.timeouts).toEqual(['b'])
    expect(observer.story().filter((line) => line.startsWith('b'))).toEqual([
      'b: unknown > healthy',
      'b: healthy > stale',
      'b: stale > unknown',
    ])
    expect(observer.story().filter((line) => line.startsWith('c'))).toEqual([
      'c: unknown > draining',
      'c: draining > terminated',
      'c: terminated > unknown',
    ])
  })

  it('does not forget in silence a peer that fell silent during the check', async () => {
    const observer = new Observer({ peerRetentionSeconds: 15 })
    await observer.beat(0, 'b')
    await observer.beat(10, 'c')
    observer.coordinator.onPeerTimeout(() => {
      observer.clock.seconds = 30
    })
    await observer.check(16)
    await observer.check(30)
    expect(observer.timeouts).toEqual(['b', 'c'])
    expect(observer.coordinator.knownPeers.size).toBe(0)
  })

  it('makes room at the cost of the stale or terminated peer that is gone longer', async () => {
    const observer = new Observer({ maxPeers: 2 })
    await observer.beat(0, 'stale')
    await observer.goodbye(0, 'terminated', [], { drain: 16 })
    await observer.beat(20, 'c')
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(['terminated', 'c'])

    const other = new Observer({ maxPeers: 2 })
    await other.beat(0, 'stale')
    await other.goodbye(0, 'terminated', [], { drain: 14 })
    await other.beat(20, 'c')
    expect([...other.coordinator.knownPeers.keys()]).toEqual(['stale', 'c'])
  })

  it('lets the peer gone longest make room, and refuses a new one when all are live (C9)', async () => {
    const observer = new Observer({ maxPeers: 2 })
    await observer.beat(0, 'a')
    await observer.beat(10, 'b')
    expect(await observer.beat(15, 'c')).toBe(false)
    expect(await observer.beat(15, 'd')).toBe(false)
    expect(await observer.beat(20, 'c')).toBe(true)
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(['b', 'c'])
    await observer.goodbye(21, 'c', [], { drain: 0 })
    expect(await observer.goodbye(22, 'd')).toBe(true)
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(['b', 'd'])
    expect(observer.logger.messages('warn')).toEqual([
      'The peer table is full of live peers: new ones are ignored',
      'The peer table is full: the peers gone longest make room, with what they left unclaimed, and then the newest',
    ])
  })
})
