import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'
import type { FencedLeaderElector } from './leader-elector.js'
import { at } from './manual-clock.test.harness.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { WorkAssignment } from './work-assignment.js'

/** An instance, and a peer that hears whatever either it or a forger says in its name. */
function pair() {
  let contradictions = 0
  const me = new Observer({ incarnation: 'i', onImpersonated: () => contradictions++ })
  const peer = new Observer({ instanceId: 'peer' })
  const speak = (seconds: number): Promise<boolean> => {
    me.clock.seconds = seconds
    peer.clock.seconds = seconds
    const heartbeat = me.coordinator.createHeartbeat({ subscriptions: ['s'] })
    void me.coordinator.handleHeartbeat(heartbeat)
    return peer.coordinator.handleHeartbeat(heartbeat)
  }
  const both = [me, peer]
  return { me, peer, speak, both, contradictions: () => contradictions }
}

const WARNING = 'Somebody speaks in the name of this instance; it contradicts under a new incarnation'

describe('an instance in whose name somebody else speaks', () => {
  it.each([
    ['far ahead of it', { sequence: Number.MAX_SAFE_INTEGER }],
    ['without a sequence, with a stamp of the far future', { stamp: 9_999_999_999 }],
  ])('is heard again with its next heartbeat: a heartbeat %s', async (_name, forged) => {
    const { me, peer, speak, both, contradictions } = pair()
    await speak(0)
    for (const one of both) await one.beat(1, 'me', ['stolen'], { incarnation: 'i', ...forged })
    expect(peer.coordinator.getPeer('me')?.subscriptions).toEqual(['stolen'])
    expect(contradictions()).toBe(1)
    expect(me.coordinator.incarnation).toBe('i~1')
    expect(await speak(2)).toBe(true)
    expect(peer.coordinator.getPeer('me')).toMatchObject({ status: 'healthy', subscriptions: ['s'], incarnation: 'i~1' })
    expect(me.logger.messages('warn')).toEqual([WARNING])
  })

  it.each([
    ['its own incarnation', 'i'],
    ['one that is made up', 'x'],
    ['none', undefined],
  ])('is healthy again with its next heartbeat: a goodbye under %s', async (_name, incarnation) => {
    const { me, peer, speak, both } = pair()
    await speak(0)
    // Without an incarnation it is believed only of a peer that is silent.
    if (incarnation === undefined) expect(peer.status('me', 16)).toBe('stale')
    for (const one of both) await one.goodbye(17, 'me', ['s'], { drain: 3600, ...(incarnation && { incarnation }) })
    expect(peer.status('me')).toBe('draining')
    expect(me.coordinator.isShuttingDown).toBe(false)
    expect(await speak(18)).toBe(true)
    expect(peer.status('me')).toBe('healthy')
    expect(peer.orphans()).toEqual({})
  })

  it('contradicts again and again, and takes none of its own messages for a forgery', async () => {
    const { me, both, speak, contradictions } = pair()
    for (let round = 0; round < 50; round++) {
      await speak(round)
      for (const one of both) await one.goodbye(round, 'me', [], { incarnation: me.coordinator.incarnation ?? '' })
    }
    expect(await speak(50)).toBe(true)
    expect(contradictions()).toBe(50)
    const { logger } = me
    expect(logger.messages('warn').length).toBeLessThanOrEqual(20)
    expect(me.coordinator.isOwnIncarnation('i')).toBe(true)
    expect(me.coordinator.isOwnIncarnation('i~50')).toBe(true)
    expect(me.coordinator.isOwnIncarnation('i2')).toBe(false)
    expect(me.coordinator.isOwnIncarnation(undefined)).toBe(false)
  })

  it('says goodbye only once it means it, and does not contradict that', async () => {
    const { me, contradictions } = pair()
    const goodbye = me.coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: [] })
    await me.coordinator.handlePeerShutdown(goodbye)
    expect(contradictions()).toBe(0)
  })

  it('can do nothing when it has no incarnation', async () => {
    const me = new Observer({ onImpersonated: () => expect.unreachable() })
    await me.goodbye(0, 'me')
    await me.beat(0, 'me', [], { stamp: 1000 })
    expect(me.coordinator.incarnation).toBeUndefined()
    expect(me.logger.messages('warn')).toEqual([])
  })

  it('leaves room to continue its incarnation', () => {
    const longest = 'i'.repeat(1000)
    expect(new Observer({ incarnation: longest }).coordinator.incarnation).toBe(longest)
    expect(() => new Observer({ incarnation: `${longest}i` })).toThrow(/^incarnation must be of at most 1000 characters/)
  })
})

describe('a forged assignment', () => {
  it('of a later term is told of by the leader, whoever it is for; its own and those of other electors are not', async () => {
    const elector: { -readonly [Key in keyof FencedLeaderElector]: FencedLeaderElector[Key] } = {
      ...{ identity: 'me', currentLeader: 'me', isLeader: true, fencingToken: 7n },
      ...{ tryAcquire: async () => true, renew: async () => true, release: async () => {} },
      ...{ onLeaderChange() {}, removeLeaderChangeCallback: () => false },
    }
    const me = new Observer({ leaderElector: elector })
    const assign = (epoch: bigint | undefined, targetInstanceId = 'other'): Promise<boolean> =>
      me.coordinator.handleWorkAssignment(
        new WorkAssignment({ targetInstanceId, subscriptions: [], sourceInstanceId: 'me', assignedAt: at(0), epoch, revision: 1 }),
      )
    for (const epoch of [undefined, 6n, 7n]) await assign(epoch)
    elector.isLeader = false
    await assign(9n)
    Object.assign(elector, { isLeader: true, fencingToken: null })
    await assign(9n)
    expect(me.logger.messages('warn')).toEqual([])
    Object.assign(elector, { fencingToken: 7n })
    await assign(8n)
    await assign(9n, 'me')
    expect(me.logger.messages('warn')).toEqual(Array(2).fill(expect.stringContaining('or somebody forges assignments')))
  })

  it('of a high revision in the present epoch locks the leader out no longer than one of a high epoch', async () => {
    const { coordinator, clock } = new Observer()
    const assign = (revision: number): Promise<boolean> =>
      coordinator.handleWorkAssignment(
        new WorkAssignment({ targetInstanceId: 'me', subscriptions: [], sourceInstanceId: 'x', assignedAt: at(0), epoch: 5n, revision }),
      )
    expect(await assign(1)).toBe(true)
    expect(await assign(Number.MAX_SAFE_INTEGER)).toBe(true)
    clock.seconds = 44.9
    expect(await assign(2)).toBe(false)
    clock.seconds = 45
    expect(await assign(2)).toBe(true)
    expect(await assign(1)).toBe(false)
  })
})
