import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'

const RIVAL = 'Two processes use the instance id of this peer; give each its own'

describe('order by stamp, from peers that send no incarnation', () => {
  it('keeps the newest heartbeat, and a repeat changes nothing (C4)', async () => {
    const observer = new Observer()
    let told = 0
    observer.coordinator.onHeartbeat(() => void told++)
    expect(await observer.beat(10, 'b', ['s1', 's2'])).toBe(true)
    expect(await observer.beat(11, 'b', ['s1'], { stamp: 8 })).toBe(false)
    expect(await observer.beat(12, 'b', ['s1', 's2'], { stamp: 10 })).toBe(false)
    expect(observer.coordinator.getPeer('b')).toMatchObject({ subscriptions: ['s1', 's2'], heardAtSeconds: 10 })
    expect(told).toBe(1)
  })

  it('takes two different heartbeats of one millisecond in the order of arrival, and a repeat of the last one once', async () => {
    const observer = new Observer()
    await observer.beat(10, 'b', ['s1'])
    expect(await observer.beat(10, 'b', ['s1'])).toBe(false)
    expect(await observer.beat(10, 'b', ['s1', 's2'])).toBe(true)
    expect(await observer.beat(10, 'b', ['s1', 's2'])).toBe(false)
    expect(observer.coordinator.getPeer('b')?.subscriptions).toEqual(['s1', 's2'])
    observer.coordinator.removePeer('b')
    expect(await observer.beat(10, 'b', ['s3'])).toBe(false)
  })

  it.each([{ declined: ['s2'] }, { capacity: 0 }])(
    'takes a second heartbeat of one millisecond that differs in nothing but %o',
    async (news) => {
      const observer = new Observer()
      await observer.beat(10, 'b', ['s1'])
      expect(await observer.beat(10, 'b', ['s1'], news)).toBe(true)
      expect(await observer.beat(10, 'b', ['s1'], news), 'a repeat').toBe(false)
      expect(observer.coordinator.getPeer('b')?.lastHeartbeat).toMatchObject(news)
    },
  )

  it('drops the goodbye of the life before when it comes after the first heartbeat of the next (C4)', async () => {
    const observer = new Observer()
    await observer.beat(10, 'b', ['s'])
    expect(await observer.goodbye(11, 'b', ['s'], { stamp: 5 })).toBe(false)
    expect(observer.status('b')).toBe('healthy')
  })

  it('keeps a draining peer draining while it goes on, then forgets its voice (C2)', async () => {
    const observer = new Observer()
    await observer.beat(-1, 'b', ['s'])
    await observer.goodbye(0, 'b', ['s'])
    for (let second = 1; second <= 12; second++) {
      expect(await observer.beat(second, 'b', ['s'])).toBe(true)
      if (second === 5) expect(await observer.beat(5, 'b', ['s', 'old'], { stamp: -1 })).toBe(false)
      expect(observer.status('b')).toBe('draining')
    }
    expect(observer.coordinator.healthyPeerCount).toBe(0)
    expect(observer.status('b', 31)).toBe('terminated')
    expect(observer.orphans()).toEqual({ b: ['s'] })
    expect(observer.coordinator.removePeer('b')).toBe(true)
    expect(await observer.beat(40, 'b', ['s'], { stamp: 11 })).toBe(false)
    expect(await observer.goodbye(40, 'b', ['s'], { stamp: 0 })).toBe(false)
    expect(observer.status('b')).toBe('unknown')
    expect(observer.orphans()).toEqual({})
  })

  it('takes a heartbeat stamped after the announced end for a new life, not one stamped at it', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', ['s'])
    await observer.beat(30, 'b', ['s'], { stamp: 30 })
    expect(observer.status('b')).toBe('terminated')
    await observer.beat(31, 'b', ['s'], { stamp: 30.001 })
    expect(observer.status('b')).toBe('healthy')
    expect(observer.coordinator.getPeer('b')?.shutdownNotification).toBeNull()
    expect(observer.orphans()).toEqual({})
    expect(observer.story().at(-1)).toBe('b: terminated > healthy (restarted)')
    // The new life can leave like any other, the old goodbye cannot come back.
    expect(await observer.goodbye(32, 'b', [], { stamp: 0 })).toBe(false)
    expect(await observer.goodbye(32, 'b', [])).toBe(true)
    expect(observer.status('b')).toBe('draining')
  })

  it('drops a heartbeat no newer than the last one of a peer that was removed (C2)', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b')
    observer.coordinator.removePeer('b')
    expect(await observer.beat(1, 'b', [], { stamp: 0 })).toBe(false)
    expect(await observer.beat(2, 'b')).toBe(true)
    expect(observer.status('b')).toBe('healthy')
  })

  it('remembers a removed peer for the retention period only', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b')
    await observer.check(31)
    observer.coordinator.removePeer('b')
    expect(await observer.beat(180.9, 'b', [], { stamp: 1 })).toBe(false)
    expect(await observer.beat(181, 'b', [], { stamp: 2 })).toBe(true)
  })

  it('hears a peer whose clock was set back once it has fallen silent, but not a single late message', async () => {
    const observer = new Observer()
    await observer.beat(1000, 'b', ['s'])
    for (let second = 1001; second <= 1015; second++) expect(await observer.beat(second, 'b', ['s'], { stamp: second - 900 })).toBe(false)
    expect(await observer.beat(1016, 'b', ['s'], { stamp: 116 })).toBe(false)
    expect(await observer.beat(1016, 'b', ['s'], { stamp: 116 })).toBe(false)
    expect(observer.status('b')).toBe('stale')
    expect(await observer.beat(1017, 'b', ['s'], { stamp: 117 })).toBe(true)
    expect(observer.status('b')).toBe('healthy')
    expect(await observer.beat(1018, 'b', ['s'], { stamp: 118 })).toBe(true)
  })
})

describe('order by incarnation and sequence', () => {
  const first = { incarnation: 'i1' }
  const second = { incarnation: 'i2' }

  it('goes by sequence within an incarnation, whatever the stamps say (C4)', async () => {
    const observer = new Observer()
    expect(await observer.beat(0, 'b', ['new'], { ...first, sequence: 5, stamp: 10 })).toBe(true)
    expect(await observer.beat(1, 'b', ['old'], { ...first, sequence: 4, stamp: 20 })).toBe(false)
    expect(await observer.beat(1, 'b', ['new'], { ...first, sequence: 5, stamp: 20 })).toBe(false)
    expect(await observer.beat(1, 'b', ['newer'], { ...first, sequence: 6, stamp: 0 })).toBe(true)
    expect(observer.coordinator.getPeer('b')?.subscriptions).toEqual(['newer'])
  })

  it('goes by stamp where an incarnation comes without sequence', async () => {
    const observer = new Observer()
    expect(await observer.beat(5, 'b', [], first)).toBe(true)
    expect(await observer.beat(6, 'b', [], { ...first, stamp: 4 })).toBe(false)
    expect(await observer.beat(6, 'b', [], first)).toBe(true)
  })

  it('a new incarnation ends the goodbye of the one before, at once', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'], { ...first, sequence: 1 })
    await observer.goodbye(1, 'b', ['s'], { ...first, sequence: 2 })
    await observer.beat(2, 'b', ['s'], { ...first, sequence: 3, stamp: 100 })
    expect(observer.status('b')).toBe('draining')
    expect(await observer.beat(3, 'b', ['s'], { ...second, sequence: 1, stamp: 3 })).toBe(true)
    expect(observer.status('b')).toBe('healthy')
    expect(observer.orphans()).toEqual({})
    expect(observer.coordinator.getPeer('b')?.incarnation).toBe('i2')
    expect(observer.story().at(-1)).toBe('b: draining > healthy (restarted)')
  })

  it('the same incarnation stays terminated, however late it is stamped (C2)', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b', ['s'], { ...first, sequence: 1 })
    await observer.beat(40, 'b', ['s'], { ...first, sequence: 2 })
    expect(observer.status('b')).toBe('terminated')
    observer.coordinator.removePeer('b')
    expect(await observer.beat(41, 'b', ['s'], { ...first, sequence: 3 })).toBe(false)
    expect(observer.status('b')).toBe('unknown')
    expect(await observer.beat(42, 'b', ['s'], { ...second, sequence: 1 })).toBe(true)
  })

  it('heeds a goodbye that later heartbeats of its life have overtaken', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'], { ...first, sequence: 1 })
    await observer.beat(2, 'b', ['s'], { ...first, sequence: 3 })
    expect(await observer.goodbye(3, 'b', ['s'], { ...first, sequence: 2, stamp: 1 })).toBe(true)
    expect(observer.status('b')).toBe('draining')
  })

  it('drops the messages of a replaced incarnation, goodbyes included (C4)', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'], { ...first, sequence: 1 })
    await observer.beat(1, 'b', ['s'], { ...second, sequence: 1 })
    expect(await observer.beat(2, 'b', ['old'], { ...first, sequence: 2 })).toBe(false)
    expect(await observer.goodbye(2, 'b', ['s'], { ...first, sequence: 3 })).toBe(false)
    expect(observer.status('b')).toBe('healthy')
    expect(observer.coordinator.getPeer('b')?.subscriptions).toEqual(['s'])
  })

  it('drops a goodbye that began before the present life last spoke, of a life never heard (C4)', async () => {
    const observer = new Observer()
    await observer.beat(10, 'b', ['s'], { ...second, sequence: 1 })
    expect(await observer.goodbye(11, 'b', ['s'], { ...first, sequence: 9, stamp: 5 })).toBe(false)
    expect(observer.status('b')).toBe('healthy')
    // It counts as a life that is over.
    expect(await observer.beat(12, 'b', ['old'], { ...first, sequence: 10 })).toBe(false)
    expect(observer.status('b')).toBe('healthy')
    // A life that begins to leave later is a new one.
    expect(await observer.goodbye(13, 'b', ['s'], { incarnation: 'i3', sequence: 1 })).toBe(true)
    expect(observer.status('b')).toBe('draining')
  })

  it('returns to a living incarnation that a late message of an unknown older life displaced', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'], { ...second, sequence: 7 })
    await observer.beat(1, 'b', ['old'], { ...first, sequence: 99, stamp: -50 })
    expect(observer.coordinator.getPeer('b')?.incarnation).toBe('i1')
    for (let time = 2; time <= 16; time++) await observer.beat(time, 'b', ['s'], { ...second, sequence: 6 + time })
    expect(observer.coordinator.getPeer('b')).toMatchObject({ incarnation: 'i1', status: 'healthy' })
    expect(await observer.beat(17, 'b', ['s'], { ...second, sequence: 23 })).toBe(true)
    expect(observer.coordinator.getPeer('b')).toMatchObject({ incarnation: 'i2', status: 'healthy', subscriptions: ['s'] })
  })

  it('does not return to a replaced incarnation for a message that is no news', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', [], { ...first, sequence: 7 })
    await observer.beat(1, 'b', [], { ...second, sequence: 1 })
    expect(observer.status('b', 20)).toBe('stale')
    expect(await observer.beat(20, 'b', [], { ...first, sequence: 7 })).toBe(false)
    expect(await observer.goodbye(20, 'b', [], { ...first, sequence: 8 })).toBe(false)
    expect(observer.status('b')).toBe('stale')
  })

  it('warns once when two processes use one id, and never for the leftovers of a restart', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', [], { ...first, sequence: 1 })
    await observer.beat(1, 'b', [], { ...second, sequence: 1 })
    await observer.beat(2, 'b', [], { ...first, sequence: 2 })
    await observer.beat(2, 'b', [], { ...first, sequence: 3 })
    expect(observer.logger.messages('warn')).toEqual([])
    for (let time = 3; time < 20; time++) {
      await observer.beat(time, 'b', [], { ...first, sequence: time + 1 })
      await observer.beat(time, 'b', [], { ...second, sequence: time })
    }
    expect(observer.logger.messages('warn')).toEqual([RIVAL])
    expect(observer.coordinator.getPeer('b')?.incarnation).toBe('i2')
  })

  it('warns once when another process uses its own id', async () => {
    const observer = new Observer({ incarnation: 'mine' })
    for (let time = 0; time < 10; time++) {
      await observer.coordinator.handleHeartbeat(observer.coordinator.createHeartbeat({ subscriptions: [] }))
      await observer.beat(time, 'me', [], { incarnation: 'other', sequence: time })
    }
    expect(observer.logger.messages('warn')).toEqual(['Another process uses the instance id of this one; give each its own'])
  })

  it('remembers a bounded number of lives', async () => {
    const observer = new Observer()
    for (let life = 0; life < 10; life++) await observer.beat(life, 'b', [], { incarnation: `i${life}`, sequence: 1 })
    expect(await observer.beat(10, 'b', [], { incarnation: 'i5', sequence: 2 })).toBe(false)
    expect(await observer.beat(11, 'b', [], { incarnation: 'i0', sequence: 2 })).toBe(true)
  })

  it('follows a rollback to a version that sends no incarnation once the newer one is gone', async () => {
    const observer = new Observer()
    await observer.beat(0, 'b', ['s'], { ...first, sequence: 1 })
    expect(await observer.beat(1, 'b', ['s'])).toBe(false)
    expect(await observer.beat(16, 'b', ['s'])).toBe(true)
    expect(observer.coordinator.getPeer('b')?.incarnation).toBeNull()

    await observer.goodbye(20, 'c', [], { ...first, sequence: 1 })
    expect(await observer.beat(50, 'c', [], { stamp: 50 })).toBe(false)
    expect(await observer.beat(51, 'c', [])).toBe(true)
    expect(observer.status('c')).toBe('healthy')
  })

  it('takes an incarnation from a peer that sent none before', async () => {
    const observer = new Observer()
    await observer.goodbye(0, 'b')
    expect(await observer.beat(1, 'b', [], { ...first, sequence: 1 })).toBe(true)
    expect(observer.status('b')).toBe('healthy')
  })
})
