import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { LockServer } from './lock-server.js'

function setUp() {
  const clock = new ManualClock()
  const server = new LockServer({ clock, leaseSeconds: 3 })
  return { clock, server, a: server.open('a'), b: server.open('b') }
}

describe('a simulated lock server', () => {
  it('gives a lock to one session at a time, and numbers what it gives upwards', () => {
    const { a, b } = setUp()
    const first = a.tryLock(['x', 'y'])
    const second = b.tryLock(['y', 'z'])
    expect([first.locked, second.locked]).toEqual([['x', 'y'], ['z']])
    expect(second.token > first.token).toBe(true)
    expect(b.holders(['x', 'z', 'free'])).toEqual(
      new Map([
        ['x', 'a'],
        ['z', 'b'],
      ]),
    )
    expect(a.check()).toEqual(['x', 'y'])
  })

  it('stacks locks: one that was locked twice survives one unlock', () => {
    const { a, b } = setUp()
    a.tryLock(['x'])
    a.tryLock(['x'])
    expect(a.unlock(['x'])).toBe(1)
    expect(b.tryLock(['x']).locked).toEqual([])
    expect(a.unlock(['x', 'never held'])).toBe(1)
    expect(b.tryLock(['x']).locked).toEqual(['x'])
  })

  it('ends a session a lease after its last request, and tells it', async () => {
    const { clock, server, a } = setUp()
    const told: number[] = []
    a.onEnd = () => told.push(clock.monotonicSeconds())
    a.tryLock(['x'])
    await clock.advance(2.9)
    a.check()
    await clock.advance(2.9)
    expect(server.locks).toEqual(['x'])
    await clock.advance(0.1)
    expect(told).toEqual([5.9])
    expect(server.locks).toEqual([])
    expect(() => a.check()).toThrow('has ended')
  })

  it('frees the locks of a session whose client hangs up, and tells nobody', () => {
    const { server, a } = setUp()
    a.onEnd = () => expect.unreachable()
    a.tryLock(['x'])
    a.close()
    a.end()
    expect(server.locks).toEqual([])
  })

  it('forgets sessions when it goes down, but no token, and says how long it has been up', async () => {
    const { clock, server, a, b } = setUp()
    const { token } = a.tryLock(['x'])
    const ended: string[] = []
    a.onEnd = () => ended.push('a')
    b.onEnd = () => ended.push('b')
    server.goDown()
    expect(ended).toEqual(['a', 'b'])
    expect(() => server.open('c')).toThrow('is down')
    server.comeUp()
    await clock.advance(2)
    expect(server.upSeconds).toBe(2)
    const again = server.open('b').tryLock(['x'])
    expect(again.locked).toEqual(['x'])
    expect(again.token > token).toBe(true)
  })
})
