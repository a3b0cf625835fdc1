import { isLeaderElector, type Logger } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { changesOf, cluster, gate, pair, silent } from './election.test.harness.js'
import { InMemoryLeaderElector } from './in-memory-leader-elector.js'

describe('InMemoryLeaderElector without a shared state', () => {
  it('always wins', async () => {
    const elector = new InMemoryLeaderElector('worker-1')
    expect(isLeaderElector(elector)).toBe(true)
    expect(elector.currentLeader).toBeNull()
    expect(await elector.tryAcquire()).toBe(true)
    expect(elector.isLeader).toBe(true)
    expect(elector.currentLeader).toBe('worker-1')
    expect(await new InMemoryLeaderElector('worker-1').tryAcquire()).toBe(true)
  })

  it('refuses an identity that is empty or not a string', () => {
    const refusal = expect.objectContaining({ name: 'CoordinationError', code: 'invalid_options' })
    expect(() => new InMemoryLeaderElector('')).toThrow(refusal)
    expect(() => new InMemoryLeaderElector(undefined as unknown as string)).toThrow(refusal)
  })
})

describe('InMemoryLeaderElector with a shared state', () => {
  it('elects one of two, and the other after a release', async () => {
    const { state, a, b } = pair()
    expect(await a.tryAcquire()).toBe(true)
    expect(await b.tryAcquire()).toBe(false)
    expect(state.currentLeader).toBe('a')
    expect(b.currentLeader).toBe('a')
    await a.release()
    expect(state.currentLeader).toBeNull()
    expect(await b.tryAcquire()).toBe(true)
    expect(state.currentLeader).toBe('b')
  })

  it('refuses a second elector of the same identity', async () => {
    const { electors } = cluster('twin', 'twin')
    expect(await Promise.all(electors.map((elector) => elector.tryAcquire()))).toEqual([true, false])
    await electors[1]?.release()
    expect(electors[0]?.isLeader).toBe(true)
    expect(await electors[1]?.tryAcquire()).toBe(false)
  })

  it('elects exactly one of ten that ask at once', async () => {
    const { electors } = cluster(...Array.from({ length: 10 }, (_, index) => `worker-${index}`))
    const answers = await Promise.all(electors.map((elector) => elector.tryAcquire()))
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(electors.filter((elector) => elector.isLeader)).toHaveLength(1)
  })

  it('numbers the terms of both electors in one strictly growing row', async () => {
    const { a, b } = pair()
    const tokens: (bigint | null)[] = [a.fencingToken]
    for (const elector of [a, b, b, a]) {
      await elector.tryAcquire()
      await elector.tryAcquire()
      tokens.push(elector.fencingToken)
      await elector.release()
      expect(elector.fencingToken).toBeNull()
    }
    expect(tokens).toEqual([null, 1n, 2n, 3n, 4n])
  })

  it('loses leadership by force, once, and lets the rival in', async () => {
    const { a, b } = pair()
    const changes = changesOf(a)
    await a.tryAcquire()
    await a.forceLoseLeadership()
    await a.forceLoseLeadership()
    expect(changes).toEqual([true, false])
    expect(await a.renew()).toBe(false)
    expect(await b.tryAcquire()).toBe(true)
  })

  it('loses leadership and its place in line when its session is ended', async () => {
    const { a, b } = pair()
    const changes = changesOf(a)
    await a.tryAcquire()
    const campaign = b.campaign()
    await b.forceEndSession()
    await expect(campaign).rejects.toMatchObject({ name: 'ConnectionError', code: 'connection_lost' })
    await a.forceEndSession()
    expect([changes, a.isLeader, b.isLeader]).toEqual([[true, false], false, false])
    await b.campaign()
    expect(b.isLeader).toBe(true)
  })

  it('rejects an aborted attempt with the reason, and keeps leadership from before', async () => {
    const { a, b } = pair()
    await a.tryAcquire()
    const reason = new Error('stopping')
    await expect(a.tryAcquire({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    await expect(b.tryAcquire({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(a.isLeader).toBe(true)
  })

  it('never lets a callback see two leaders, nor a leader that the shared state does not name', async () => {
    const { state, a, b } = pair()
    const seen: string[] = []
    for (const elector of [a, b]) {
      elector.onLeaderChange(() => {
        const leaders = [a, b].filter(({ isLeader }) => isLeader).map(({ identity }) => identity)
        seen.push(`${leaders.join()}=${state.currentLeader ?? ''}`)
      })
    }
    await a.tryAcquire()
    const won = b.campaign()
    await a.release()
    await won
    expect(seen).toEqual(['a=a', '=', 'b=b'])
  })
})

describe('E3: one loss is told once, and only by one that led', () => {
  it('tells nothing to a follower that never led', async () => {
    const { a, b } = pair()
    const changes = changesOf(b)
    await b.release()
    await a.tryAcquire()
    await b.release()
    expect(changes).toEqual([])
    expect(a.isLeader).toBe(true)
  })

  it('tells one loss when leadership is lost and released in the same tick', async () => {
    const { a } = pair()
    const changes = changesOf(a)
    await a.tryAcquire()
    await Promise.all([a.forceLoseLeadership(), a.release()])
    expect(changes).toEqual([true, false])
  })

  it('tells one loss for two releases in parallel', async () => {
    const { a } = pair()
    const changes = changesOf(a)
    await a.tryAcquire()
    await Promise.all([a.release(), a.release()])
    expect(changes).toEqual([true, false])
  })
})

describe('E5: calls from inside a callback settle', { timeout: 1000 }, () => {
  it('answers false when a callback released, having told the gain and then the loss', async () => {
    const { state, a } = pair()
    const changes = changesOf(a)
    a.onLeaderChange(async (isLeader) => {
      if (isLeader) await a.release()
    })
    const lossTold = gate()
    a.onLeaderChange((isLeader) => {
      if (!isLeader) lossTold.open()
    })
    expect(await a.tryAcquire()).toBe(false)
    await lossTold.opened
    expect(changes).toEqual([true, false])
    expect(state.currentLeader).toBeNull()
  })

  it('takes leadership again from the callback that tells its loss', async () => {
    const { state, a } = pair()
    const changes = changesOf(a)
    const answers: boolean[] = []
    const secondGain = gate()
    a.onLeaderChange(async (isLeader) => {
      if (!isLeader) answers.push(await a.tryAcquire())
      else if (answers.length > 0) secondGain.open()
    })
    await a.tryAcquire()
    await a.release()
    await secondGain.opened
    expect(answers).toEqual([true])
    expect(changes).toEqual([true, false, true])
    expect(state.currentLeader).toBe('a')
    expect(a.fencingToken).toBe(2n)
  })
})

describe('E8: failing callbacks are isolated', () => {
  it('runs the others, answers true, logs with the identity and leaves no unhandled rejection', async () => {
    const logged: unknown[] = []
    const logger: Logger = { ...silent, error: (fields) => logged.push(fields.identity) }
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    try {
      const elector = new InMemoryLeaderElector('worker-1', { logger })
      const calls: string[] = []
      elector.onLeaderChange(() => {
        throw new Error('synchronous')
      })
      elector.onLeaderChange(async () => {
        await new Promise((resolve) => setTimeout(resolve, 10))
        throw new Error('rejected')
      })
      elector.onLeaderChange((() => calls.push('L3')) as () => void)
      elector.onLeaderChange(function once() {
        calls.push('L4')
        elector.removeLeaderChangeCallback(once)
      })
      elector.onLeaderChange(() => void calls.push('L5'))
      expect(await elector.tryAcquire()).toBe(true)
      await elector.release()
      expect(calls).toEqual(['L3', 'L4', 'L5', 'L3', 'L5'])
      expect(logged).toEqual(['worker-1', 'worker-1', 'worker-1', 'worker-1'])
      // Node reports unhandled rejections before the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
  })
})

describe('E9: a late listener hears the next change, not the present state', () => {
  it('replays nothing', async () => {
    const { a, b } = pair()
    await a.tryAcquire()
    const late = changesOf(a)
    const follower = changesOf(b)
    expect(await a.tryAcquire()).toBe(true)
    expect(late).toEqual([])
    await a.release()
    expect(late).toEqual([false])
    expect(follower).toEqual([])
  })
})

describe('a closed elector', () => {
  const closed = { name: 'ConnectionError', code: 'closed' }

  it('has released, tells so once, and stands no more', async () => {
    const { state, a, b } = pair()
    const changes = changesOf(a)
    await a.tryAcquire()
    await Promise.all([a.close(), a.close()])
    await a.close()
    expect(changes).toEqual([true, false])
    expect([a.isLeader, state.currentLeader]).toEqual([false, null])
    await expect(a.tryAcquire()).rejects.toMatchObject(closed)
    await expect(a.campaign()).rejects.toMatchObject(closed)
    await a.release()
    expect(await a.renew()).toBe(false)
    expect(await b.tryAcquire()).toBe(true)
  })

  it('has left the line, and its campaigns have rejected', async () => {
    const { state, a, b } = pair()
    await a.tryAcquire()
    const waiting = [b.campaign(), b.campaign()]
    await b.close()
    for (const campaign of waiting) await expect(campaign).rejects.toMatchObject(closed)
    expect(state.waitingCount).toBe(0)
    await a.release()
    expect(state.currentLeader).toBe(null)
  })

  it('holds nothing though it was closed while its callbacks were being told, by one of them', async () => {
    const { state, a } = pair()
    a.onLeaderChange((isLeader) => (isLeader ? a.close() : undefined))
    await expect(a.campaign()).rejects.toMatchObject(closed)
    expect([a.isLeader, state.currentLeader]).toEqual([false, null])
  })

  it('can be disposed of', async () => {
    const { state, electors } = cluster('a')
    {
      await using elector = electors[0]!
      await elector.tryAcquire()
    }
    expect(state.currentLeader).toBe(null)
  })
})
