import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { changesOf, cluster, gate, pair } from './election.test.harness.js'
import type { InMemoryLeaderElector } from './in-memory-leader-elector.js'

describe('campaign', () => {
  it('resolves at once for the leader and for a free election', async () => {
    const { a } = pair()
    const changes = changesOf(a)
    await a.campaign()
    expect(changes).toEqual([true])
    await a.campaign()
    expect(changes).toEqual([true])
  })

  it('elects those who wait in the order in which they came, and nobody overtakes', async () => {
    const { electors } = cluster('a', 'b', 'c')
    const [a, b, c] = electors as [InMemoryLeaderElector, InMemoryLeaderElector, InMemoryLeaderElector]
    const order: string[] = []
    // The one that just lost leadership asks again before anybody else can; those in line come first all the same.
    a.onLeaderChange(async (isLeader) => {
      if (!isLeader) order.push(`a again: ${await a.tryAcquire()}`)
    })
    for (const elector of electors) elector.onLeaderChange((isLeader) => void (isLeader && order.push(elector.identity)))
    await a.tryAcquire()
    const campaigns = [c.campaign(), b.campaign()]
    await a.release()
    await c.release()
    await Promise.all(campaigns)
    expect(order).toEqual(['a', 'c', 'a again: false', 'b'])
  })

  it('elects only one when the first in line asks by itself while the leader tells its loss', async () => {
    const { electors } = cluster('a', 'b', 'c')
    const [a, b, c] = electors as [InMemoryLeaderElector, InMemoryLeaderElector, InMemoryLeaderElector]
    await a.tryAcquire()
    const [first] = [b.campaign(), c.campaign()]
    a.onLeaderChange(() => void b.tryAcquire())
    await a.release()
    await first
    expect(electors.map(({ isLeader }) => isLeader)).toEqual([false, true, false])
    expect(b.fencingToken).toBe(2n)
    await b.release()
    expect(c.isLeader).toBe(true)
  })

  it('rejects with the reason of its signal, leaves the line and keeps no listener', async () => {
    const { state, a, b } = pair()
    await a.tryAcquire()
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const waiting = b.campaign({ signal: controller.signal })
      expect(state.waitingCount).toBe(1)
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
      const reason = new Error(`round ${round}`)
      controller.abort(reason)
      await expect(waiting).rejects.toBe(reason)
      expect(state.waitingCount).toBe(0)
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    }
    await a.release()
    expect(state.currentLeader).toBeNull()
    const reason = new Error('before')
    await expect(b.campaign({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(b.isLeader).toBe(false)
  })

  it('keeps no listener on a signal that outlives many won campaigns', async () => {
    const { a, b } = pair()
    const { signal } = new AbortController()
    let [leader, waiter] = [a, b]
    await leader.campaign({ signal })
    for (let round = 0; round < 50; round++) {
      const won = waiter.campaign({ signal })
      await leader.release()
      await won
      ;[leader, waiter] = [waiter, leader]
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('holds nothing when it is aborted while its callbacks are being told', async () => {
    const { state, a, b } = pair()
    const slow = gate()
    b.onLeaderChange(() => slow.opened)
    const changes = changesOf(b)
    await a.tryAcquire()
    const controller = new AbortController()
    const waiting = b.campaign({ signal: controller.signal })
    await a.release()
    expect(b.isLeader).toBe(true)
    controller.abort(new Error('stopping'))
    await expect(waiting).rejects.toThrow('stopping')
    expect(b.isLeader).toBe(false)
    expect(state.currentLeader).toBeNull()
    slow.open()
    await a.campaign()
    expect(changes).toEqual([true, false])
  })

  it('holds nothing when a callback aborts the campaign that won', async () => {
    const { state, a } = pair()
    const controller = new AbortController()
    a.onLeaderChange((isLeader) => {
      if (isLeader) controller.abort(new Error('changed my mind'))
    })
    await expect(a.campaign({ signal: controller.signal })).rejects.toThrow('changed my mind')
    expect(a.isLeader).toBe(false)
    expect(state.currentLeader).toBeNull()
  })

  it('keeps a later term that the aborted campaign did not win', async () => {
    const { a } = pair()
    const slow = gate()
    a.onLeaderChange(() => slow.opened)
    const controller = new AbortController()
    const waiting = a.campaign({ signal: controller.signal })
    await a.release()
    await a.tryAcquire()
    controller.abort(new Error('stopping'))
    await expect(waiting).rejects.toThrow('stopping')
    expect(a.isLeader).toBe(true)
    slow.open()
  })

  it('shares one place in line among parallel calls, and one abort does not end the others', async () => {
    const { state, a, b } = pair()
    const changes = changesOf(b)
    await a.tryAcquire()
    const controller = new AbortController()
    const aborted = b.campaign({ signal: controller.signal })
    const waiting = [b.campaign(), b.campaign()]
    expect(state.waitingCount).toBe(1)
    controller.abort(new Error('only this one'))
    await expect(aborted).rejects.toThrow('only this one')
    await a.release()
    await Promise.all(waiting)
    expect(changes).toEqual([true])
  })

  it('resolves only after the callbacks of its own term ran, though tryAcquire answers before', async () => {
    const { a } = pair()
    const slow = gate()
    a.onLeaderChange(() => slow.opened)
    const order: string[] = []
    const won = a.campaign().then(() => order.push('campaign'))
    expect(await a.tryAcquire()).toBe(true)
    order.push('tryAcquire')
    slow.open()
    await won
    expect(order).toEqual(['tryAcquire', 'campaign'])
  })

  it('E11: three that campaign again after every loss always have a leader, and a former leader wins again', async () => {
    const { state, electors } = cluster('a', 'b', 'c')
    const stop = new AbortController()
    const leaders: string[] = []
    const loops = electors.map(async (elector) => {
      elector.onLeaderChange((isLeader) => void (isLeader && leaders.push(elector.identity)))
      for (;;) {
        const lost = gate()
        const onLoss = (isLeader: boolean): void => {
          if (!isLeader) lost.open()
        }
        elector.onLeaderChange(onLoss)
        await elector.campaign({ signal: stop.signal })
        await lost.opened
        elector.removeLeaderChangeCallback(onLoss)
      }
    })
    const ends = Promise.allSettled(loops)
    for (let loss = 0; loss < 10; loss++) {
      const leader = electors.find((elector) => elector.isLeader)
      expect(leader, `after ${loss} losses`).toBeDefined()
      await leader?.forceLoseLeadership()
      // The loser joins the line again in its own continuation.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(state.waitingCount).toBe(2)
    expect(leaders.join('')).toBe('abcabcabcab')
    const leader = electors.find((elector) => elector.isLeader)
    stop.abort(new Error('stop'))
    await leader?.release()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(state.currentLeader).toBeNull()
  })
})
