import { getEventListeners } from 'node:events'
import { ConnectionError } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeElection } from './fake-election.test.harness.js'
import { deriveLockKey } from './lock-key.js'

vi.mock('./pg-session.js', () => import('./fake-pg-session.test.harness.js'))

const KEY = deriveLockKey('leader/default', 'orders')

let clock: ManualClock
let election: FakeElection

beforeEach(() => {
  clock = new ManualClock()
  election = new FakeElection(clock)
})

/** Numbers in [0, 1) that are the same every time. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

const UNREACHABLE = new ConnectionError('unreachable', 'the server could not be reached: ECONNREFUSED')

describe('a campaign', () => {
  it('wins the moment the leader releases, without waiting for a poll', async () => {
    const a = election.join('a').elector
    const b = election.join('b')
    await a.tryAcquire()
    const campaign = b.elector.campaign()
    await clock.advance(2.5)
    await a.release()
    await clock.advance(0)
    expect([b.elector.isLeader, b.changes]).toEqual([true, [true]])
    await campaign
  })

  it('goes on after the candidate lost its own session while waiting, and leads only with a lock (E10)', async () => {
    const { server } = election
    const a = election.join('a').elector
    const b = election.join('b')
    await a.tryAcquire()
    const campaign = b.elector.campaign()
    await clock.advance(0.5)
    for (const session of server.sessions) if (session !== server.holderOf(KEY)) session.terminate()
    await clock.advance(5)
    expect([b.elector.isLeader, b.changes]).toEqual([false, []])
    expect(server.sessions.size).toBe(2)
    server.holderOf(KEY)?.terminate()
    await clock.advance(0)
    await campaign
    expect(b.elector.isLeader).toBe(true)
    expect(server.holderOf(KEY)?.applicationName).toBe('b')
  })

  it('is there for every change of leader, ten in a row among three, and the ex-leader can win again (E11)', async () => {
    const { server } = election
    const contenders = ['a', 'b', 'c'].map((name) => election.join(name))
    for (const { elector } of contenders) {
      const campaignAgain = async (isLeader: boolean): Promise<void> => {
        if (!isLeader) void elector.campaign()
      }
      elector.onLeaderChange(campaignAgain)
      void elector.campaign()
    }
    await clock.advance(1)
    const winners: string[] = []
    for (let round = 0; round < 10; round++) {
      server.holderOf(KEY)?.terminate()
      await clock.advance(2)
      const leading = contenders.filter(({ elector }) => elector.isLeader).map(({ elector }) => elector.identity)
      expect(leading).toEqual([server.holderOf(KEY)?.applicationName])
      winners.push(...leading)
    }
    expect(new Set(winners).size).toBe(3)
    for (const { changes } of contenders) for (const [index, isLeader] of changes.entries()) expect(isLeader).toBe(index % 2 === 0)
    expect(server.sessions.size).toBe(3)
  })

  it('rejects at once with the reason of its signal, and holds nothing', async () => {
    await election.join('a').elector.tryAcquire()
    const { elector, changes } = election.join('b')
    const controller = new AbortController()
    const campaign = elector.campaign({ signal: controller.signal })
    await clock.advance(0.5)
    controller.abort(new Error('enough'))
    await expect(campaign).rejects.toThrow('enough')
    election.server.holderOf(KEY)?.terminate()
    await clock.advance(10)
    expect([elector.isLeader, changes, election.server.holderOf(KEY)]).toEqual([false, [], undefined])
  })

  it('holds nothing when its signal aborts while the callbacks are being told of its victory', async () => {
    const { elector, changes } = election.join('b')
    elector.onLeaderChange((isLeader) => (isLeader ? new Promise(() => {}) : undefined))
    const controller = new AbortController()
    const campaign = elector.campaign({ signal: controller.signal })
    await clock.advance(0)
    expect(elector.isLeader).toBe(true)
    controller.abort(new Error('enough'))
    await expect(campaign).rejects.toThrow('enough')
    expect(elector.isLeader).toBe(false)
    await clock.advance(0)
    expect([changes[0], election.server.holderOf(KEY)]).toEqual([true, undefined])
  })

  it('keeps a term that it did not win itself when its signal aborts', async () => {
    const { elector } = election.join('b')
    await elector.tryAcquire()
    const controller = new AbortController()
    await elector.campaign({ signal: controller.signal })
    controller.abort()
    await clock.advance(1)
    expect(elector.isLeader).toBe(true)
  })

  it('leads in whichever order an abort and the answer of the server arrive, or does not, but never half', async () => {
    const outcomes = new Set<boolean>()
    for (let ticks = 0; ticks < 150; ticks++) {
      const { elector, changes } = election.join('b')
      const controller = new AbortController()
      const campaign = elector.campaign({ signal: controller.signal })
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      controller.abort(new Error('enough'))
      const isWon = await campaign.then(
        () => true,
        () => false,
      )
      expect(elector.isLeader).toBe(isWon)
      await clock.advance(2)
      expect(elector.isLeader).toBe(isWon)
      expect(election.server.holderOf(KEY)?.applicationName).toBe(isWon ? 'b' : undefined)
      expect(changes.at(-1) ?? false).toBe(isWon)
      outcomes.add(isWon)
      await elector.close()
    }
    expect(outcomes.size).toBe(2)
  })

  it('leaves no listener on its signal over 1,000 rounds that are won, and none over 1,000 that are given up (W5)', async () => {
    const { elector } = election.join('b')
    const kept = new AbortController()
    for (let round = 0; round < 1_000; round++) {
      await elector.campaign({ signal: kept.signal })
      await elector.release()
      expect(getEventListeners(kept.signal, 'abort')).toHaveLength(0)
    }
    await election.join('a').elector.tryAcquire()
    const timers = clock.pendingTimers
    for (let round = 0; round < 1_000; round++) {
      const ending = new AbortController()
      const campaign = elector.campaign({ signal: ending.signal })
      if (round % 2 === 0) await clock.advance(0.3)
      ending.abort(new Error('enough'))
      await expect(campaign).rejects.toThrow('enough')
      expect(getEventListeners(ending.signal, 'abort')).toHaveLength(0)
    }
    await clock.advance(2)
    expect(clock.pendingTimers).toBeLessThanOrEqual(timers + 2)
    await elector.close()
    election.server.holderOf(KEY)?.terminate()
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('may be called any number of times at once, without a warning about listeners (W5)', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    await election.join('a').elector.tryAcquire()
    const { elector } = election.join('b')
    const campaigns = Array.from({ length: 30 }, () => elector.campaign())
    await clock.advance(1)
    await elector.close()
    expect((await Promise.allSettled(campaigns)).every(({ status }) => status === 'rejected')).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it('rejects with closed when its elector is closed, in an outage too (P7c)', async () => {
    election.server.fateOfOpening = () => UNREACHABLE
    const { elector } = election.join('b')
    const campaign = elector.campaign()
    const outcome = expect(campaign).rejects.toMatchObject({ code: 'closed' })
    await clock.advance(3)
    await elector.close()
    await outcome
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('a server that cannot be used', () => {
  it.each(['authentication_failed', 'transaction_pooler', 'unsupported_server', 'settings_refused'])(
    'for a reason that waiting does not mend (%s) ends a campaign that never connected, and not one that did',
    async (code) => {
      const { server } = election
      server.fateOfOpening = () => new ConnectionError(code, 'no')
      await expect(election.join('a').elector.campaign()).rejects.toMatchObject({ code })
      server.fateOfOpening = () => 'answer'
      const b = election.join('b').elector
      await b.tryAcquire()
      server.fateOfOpening = () => new ConnectionError(code, 'no')
      server.holderOf(KEY)?.terminate()
      await clock.advance(0)
      const campaign = b.campaign()
      await clock.advance(20)
      server.fateOfOpening = () => 'answer'
      await clock.advance(5)
      await campaign
      expect(b.isLeader).toBe(true)
    },
  )

  it.each(['standby', 'unreachable', 'timed_out'])('for a reason that may pass (%s) is tried again', async (code) => {
    election.server.fateOfOpening = () => new ConnectionError(code, 'not now')
    const { elector } = election.join('a')
    const campaign = elector.campaign()
    await clock.advance(20)
    election.server.fateOfOpening = () => 'answer'
    await clock.advance(5)
    await campaign
  })

  it('refuses at once for 20 s: attempts and log lines are few, spread out, and all 50 are back within one capped delay (P12)', async () => {
    const { server, logger } = election
    const random = seededRandom(12)
    server.fateOfOpening = () => UNREACHABLE
    const contenders = Array.from({ length: 50 }, (_, index) => election.join(`c${index}`, { random, longestRetrySeconds: 5 }))
    const campaigns = contenders.map(({ elector }) => elector.campaign())
    await clock.advance(20)
    // At most two a second and candidate; far less once the delays have grown.
    const attempts = server.openings.length
    expect(attempts).toBeLessThanOrEqual(50 * 20)
    for (let second = 0; second < 20; second++) {
      expect(server.openings.filter((at) => at >= second && at < second + 1).length).toBeLessThanOrEqual(100)
    }
    expect(logger.loud.length).toBeLessThanOrEqual(2 * 50)
    // After the first attempt no two candidates are in step.
    const retries = server.openings.filter((at) => at > 0)
    expect(new Set(retries.map((at) => at.toFixed(6))).size).toBeGreaterThan(retries.length * 0.9)
    server.fateOfOpening = () => 'answer'
    await clock.advance(5)
    expect(server.sessions.size).toBe(50)
    expect(contenders.filter(({ elector }) => elector.isLeader)).toHaveLength(1)
    await Promise.all(contenders.map(({ elector }) => elector.close()))
    await Promise.allSettled(campaigns)
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('answers every statement with an error at once: no busy loop (P12)', async () => {
    const { server, logger } = election
    server.fateOf = () => new Error('the database system is in recovery mode')
    const { elector } = election.join('a')
    const campaign = elector.campaign().catch(() => {})
    await clock.advance(60)
    expect(server.seen.length).toBeLessThanOrEqual(40)
    expect(logger.loud.length).toBeLessThanOrEqual(5)
    await elector.close()
    await campaign
  })

  it('answers the wait at once without a lock, again and again: no busy loop (P12)', async () => {
    const { server } = election
    server.upSecondsAtStart = 0
    const { elector } = election.join('a')
    const campaign = elector.campaign().catch(() => {})
    await clock.advance(14)
    expect(server.seen.length).toBeLessThanOrEqual(60)
    await elector.close()
    await campaign
  })
})

describe('a session that does not answer', () => {
  it('is given up within the request timeout beyond one slice, and the campaign goes on with another', async () => {
    const { server } = election
    const { elector } = election.join('a')
    server.fateOf = ({ session }) => (session.pid === 1 ? 'lost' : 'answer')
    const campaign = elector.campaign()
    await clock.advance(6 + 1)
    await campaign
    expect(server.openings).toHaveLength(2)
  })

  it('while connecting is given up within the request timeout', async () => {
    const { server } = election
    const { elector } = election.join('a')
    server.fateOfOpening = (at) => (at < 1 ? 'hang' : 'answer')
    const campaign = elector.campaign()
    await clock.advance(5 + 1)
    await campaign
    expect(elector.isLeader).toBe(true)
  })
})
