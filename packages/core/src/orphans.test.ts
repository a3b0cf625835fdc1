import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'

describe('orphaned subscriptions', () => {
  it('are those of stale, draining and terminated peers', async () => {
    const observer = new Observer()
    await observer.beat(0, 'stale', ['a'])
    await observer.goodbye(0, 'terminated', ['b'], { drain: 5 })
    await observer.goodbye(10, 'draining', ['c'])
    await observer.beat(10, 'healthy', ['d'])
    expect(observer.orphans(20)).toEqual({ stale: ['a'], terminated: ['b'], draining: ['c'] })
  })

  it('are settled for good once a healthy peer lists them; then they are the new owner’s to lose (C10)', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    expect(observer.orphans(16)).toEqual({ b: ['s1'] })
    await observer.beat(17, 'c', ['s1'])
    expect(observer.orphans()).toEqual({})
    for (let second = 18; second < 900; second += 10) await observer.beat(second, 'c', ['s1'])
    expect(observer.orphans()).toEqual({})
    expect(observer.orphans(1000)).toEqual({ c: ['s1'] })

    const restarted = new Observer()
    await restarted.beat(0, 'c', ['s1'])
    expect(restarted.orphans()).toEqual({})
  })

  it('stay settled when the new owner lets go again while it lives', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    observer.orphans(16)
    await observer.beat(17, 'c', ['s1'])
    await observer.beat(18, 'c', [])
    expect(observer.orphans()).toEqual({})
  })

  it('are none where someone listed the same work before the loss', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    await observer.beat(10, 'c', ['s1'])
    expect(observer.orphans(20)).toEqual({})
    expect(observer.orphans(30)).toEqual({ c: ['s1'] })
  })

  it('are settled by what this instance itself lists', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1', 's2'])
    observer.orphans(16)
    observer.coordinator.createHeartbeat({ subscriptions: ['s1'] })
    expect(observer.orphans()).toEqual({ b: ['s2'] })
    observer.coordinator.createHeartbeat({ subscriptions: [] })
    expect(observer.orphans()).toEqual({ b: ['s2'] })
  })

  it('are taken back by a stale peer that recovers, and lost again if it falls silent again', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    expect(observer.orphans(16)).toEqual({ b: ['s1'] })
    await observer.beat(17, 'b', ['s1'])
    expect(observer.orphans()).toEqual({})
    expect(observer.orphans(40)).toEqual({ b: ['s1'] })
  })

  it('are not vouched for by a peer that fell silent at the same time', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    await observer.beat(0, 'c', ['s1'])
    expect(observer.orphans(16)).toEqual({ c: ['s1'] })
    // Had the loss of b been settled by c, nobody would run s1 now.
    await observer.beat(17, 'c', [])
    expect(observer.orphans()).toEqual({ b: ['s1'] })
  })

  it('are not claimed by a peer that is leaving', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    await observer.goodbye(10, 'c', [])
    observer.orphans(16)
    await observer.beat(17, 'c', ['s1'])
    expect(observer.orphans()).toEqual({ b: ['s1'] })
  })

  it('follow a second goodbye without bringing back what others took', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', ['s1', 's2', 's3'])
    await observer.beat(1, 'c', ['s1'])
    await observer.beat(2, 'c', [])
    await observer.goodbye(3, 'b', ['s1', 's2', 's4'])
    expect(observer.orphans()).toEqual({ b: ['s2', 's4'] })
  })

  it('vanish with a peer that is removed by hand', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s1'])
    observer.orphans(16)
    observer.coordinator.removePeer('b')
    expect(observer.orphans()).toEqual({})
    await observer.beat(16, 'c', ['s2'])
    observer.coordinator.removePeer('c')
    await observer.beat(17, 'd', ['s2'])
    expect(observer.orphans(40)).toEqual({ d: ['s2'] })
  })

  it('end with a restart, which reports what nobody lists any more', async () => {
    const observer = new Observer()
    await observer.beat(0, 'c', ['s3'])
    await observer.beat(0, 'b', ['s1', 's2', 's3'], { incarnation: 'i1', sequence: 1 })
    await observer.beat(1, 'b', ['s1'], { incarnation: 'i2', sequence: 1 })
    expect(observer.changes.at(-1)).toEqual({
      instanceId: 'b',
      previous: 'healthy',
      status: 'healthy',
      restarted: true,
      leftBehind: ['s2'],
    })
    await observer.goodbye(2, 'b', ['s1'], { incarnation: 'i2', sequence: 2 })
    await observer.beat(3, 'b', [], { incarnation: 'i3', sequence: 1 })
    expect(observer.changes.at(-1)).toMatchObject({ previous: 'draining', status: 'healthy', leftBehind: ['s1'] })
    expect(observer.orphans()).toEqual({})
    await observer.beat(4, 'b', ['s4'], { incarnation: 'i3', sequence: 2 })
    await observer.beat(5, 'b', ['s4', 's5'], { incarnation: 'i3', sequence: 3 })
    await observer.goodbye(5, 'b', ['s5'], { incarnation: 'i4', sequence: 1 })
    expect(observer.changes.at(-1)).toMatchObject({ previous: 'healthy', status: 'draining', restarted: true, leftBehind: ['s4'] })
    expect(observer.orphans()).toEqual({ b: ['s5'] })
  })
})

describe('the table as a whole', () => {
  const ids = fc.constantFrom('a', 'b', 'c', '__proto__')
  const work = fc.subarray(['s1', 's2', 's3', 's4'])
  const step = fc.oneof(
    fc.record({ type: fc.constant('beat' as const), id: ids, work, life: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }) }),
    fc.record({
      type: fc.constant('goodbye' as const),
      id: ids,
      work,
      life: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
      drain: fc.nat(40),
    }),
    fc.record({ type: fc.constant('own' as const), work }),
    fc.record({ type: fc.constant('remove' as const), id: ids }),
    fc.record({ type: fc.constant('check' as const) }),
    fc.record({ type: fc.constant('look' as const) }),
  )

  it('never contradicts itself, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(12), step), { maxLength: 60 }), fc.constantFrom(2, 100), async (steps, maxPeers) => {
        const observer = new Observer({ maxPeers, peerRetentionSeconds: 40 })
        const told = new Map<string, string>()
        observer.coordinator.onPeerStatusChange(({ instanceId, previous, status }) => {
          // A peer that was removed or made room went without a word.
          if (previous !== 'unknown') expect(previous).toBe(told.get(instanceId))
          told.set(instanceId, status)
        })
        let now = 0
        let sequence = 0
        let own: readonly string[] = []
        const heardAt = new Map<string, number>()
        for (const [seconds, action] of steps) {
          now += seconds
          observer.clock.seconds = now
          if (action.type === 'beat' || action.type === 'goodbye') {
            const sent = action.life === undefined ? {} : { incarnation: action.life, sequence: ++sequence }
            const isTaken =
              action.type === 'beat'
                ? await observer.beat(now, action.id, action.work, sent)
                : await observer.goodbye(now, action.id, action.work, { ...sent, drain: action.drain })
            if (isTaken) heardAt.set(action.id, now)
          } else if (action.type === 'own') {
            own = action.work
            observer.coordinator.createHeartbeat({ subscriptions: own })
          } else if (action.type === 'remove') {
            observer.coordinator.removePeer(action.id)
          } else if (action.type === 'check') {
            const timedOut = await observer.coordinator.checkPeerTimeouts()
            for (const id of timedOut) expect(['stale', 'unknown']).toContain(observer.status(id))
          }

          const peers = [...observer.coordinator.knownPeers.values()]
          const healthy = peers.filter(({ status }) => status === 'healthy')
          expect(peers.length).toBeLessThanOrEqual(maxPeers)
          expect(observer.coordinator.healthyPeerCount).toBe(healthy.length)
          expect(new Set(observer.coordinator.drainingPeers)).toEqual(new Set(peers.filter(({ status }) => status === 'draining')))
          for (const peer of peers) {
            expect(peer.heardAtSeconds).toBe(heardAt.get(peer.instanceId))
            expect(peer.shutdownNotification !== null).toBe(peer.status === 'draining' || peer.status === 'terminated')
            if (peer.status === 'healthy' || peer.status === 'stale') expect(peer.status === 'stale').toBe(now - peer.heardAtSeconds > 15)
            expect(observer.coordinator.getPeer(peer.instanceId)).toBe(peer)
          }
          const orphans = [...observer.coordinator.getOrphanedSubscriptions()]
          const names = orphans.flatMap(([, lost]) => lost)
          expect(new Set(names).size).toBe(names.length)
          const listed = new Set([...own, ...healthy.flatMap(({ subscriptions }) => subscriptions)])
          for (const [id, lost] of orphans) {
            const peer = observer.coordinator.getPeer(id)
            expect(['stale', 'draining', 'terminated']).toContain(peer?.status)
            for (const name of lost) {
              expect(peer?.subscriptions).toContain(name)
              expect(listed.has(name)).toBe(false)
            }
          }
        }
        // Once everything is claimed and quiet, the table is empty.
        observer.coordinator.createHeartbeat({ subscriptions: ['s1', 's2', 's3', 's4'] })
        await observer.check(now + 10_000)
        await observer.check(now + 10_001)
        expect(observer.coordinator.knownPeers.size).toBe(0)
        expect(observer.orphans()).toEqual({})
      }),
      { numRuns: 500 },
    )
  })
})
