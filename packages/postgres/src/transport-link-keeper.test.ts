import { ConnectionError, sleep } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Session } from './pg-session.js'
import type { Statement } from './statements.js'
import { TransportLink } from './transport-link.js'
import { TransportLinkKeeper } from './transport-link-keeper.js'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** A session that answers everything at once, and echoes unless it is told not to. */
class FakeSession implements Session {
  readonly serverUpSeconds = 1000
  readonly openedAt = 0
  readonly ended: Promise<Error>
  readonly onNotification: (channel: string, payload: string) => void
  isOver = false
  /** Answers nothing. */
  isMute = false
  /** Answers, but notifications do not come through. */
  isDeaf = false
  /** How long an answer takes. */
  latencySeconds = 0
  tookLeave = false
  statements = 0
  notifications = 0
  #over: (reason: Error) => void = () => {}

  constructor(onNotification: (channel: string, payload: string) => void) {
    this.onNotification = onNotification
    this.ended = new Promise((resolve) => {
      this.#over = resolve
    })
  }

  /** Hears a message. */
  hear(): void {
    this.onNotification('channel', 'message')
  }

  query(statement: unknown, values: readonly unknown[] = []): Promise<[]> {
    this.statements++
    const isNotify = typeof statement !== 'string' && (statement as Statement).text.includes('pg_notify')
    if (isNotify) this.notifications++
    if (this.isMute) return new Promise(() => {})
    if (isNotify && !this.isDeaf) this.onNotification(String(values[0]), String(values[1]))
    return this.latencySeconds === 0 ? Promise.resolve([]) : sleep(this.latencySeconds, { clock }).then(() => [])
  }

  destroy(reason: Error): void {
    this.isOver = true
    this.#over(reason)
  }

  end(): Promise<void> {
    this.tookLeave = true
    this.destroy(new Error('left'))
    return Promise.resolve()
  }
}

let clock: ManualClock
let sessions: FakeSession[]
let openings: number[]
let opened: boolean[]
let fateOfOpening: (attempt: number) => Error | number
let keeper: TransportLinkKeeper

beforeEach(() => {
  clock = new ManualClock()
  sessions = []
  openings = []
  opened = []
  fateOfOpening = () => 0
  keeper = new TransportLinkKeeper({
    open: (signal) =>
      TransportLink.open({ open: openSession, requestTimeoutSeconds: 2, signal, clock, onNotification: () => {} }, async () => {}),
    onOpen: (isAgain) => void opened.push(isAgain),
    onHealthy: () => {},
    healthCheckSeconds: 5,
    longestRetrySeconds: 4,
    random: () => 0.5,
    clock,
    logger: SILENT,
    fields: {},
  })
})

async function openSession(onNotification: (channel: string, payload: string) => void): Promise<Session> {
  openings.push(clock.monotonicSeconds())
  const fate = fateOfOpening(openings.length)
  if (fate instanceof Error) throw fate
  if (fate > 0) await new Promise<void>((resolve) => void clock.setTimer(fate, resolve))
  const session = new FakeSession(onNotification)
  sessions.push(session)
  return session
}

const lose = (): void => sessions.at(-1)?.destroy(new ConnectionError('connection_lost', 'gone'))
const refused = new ConnectionError('unreachable', 'refused')

describe('a link', () => {
  it('is opened once for all who ask at the same time, and by nobody before', async () => {
    await clock.advance(10)
    expect(openings).toEqual([])
    fateOfOpening = () => 1
    const links = Promise.all([keeper.ready(), keeper.ready()])
    await clock.advance(1)
    const [first, second] = await links
    expect([first === second, openings.length, opened]).toEqual([true, 1, [false]])
  })

  it('that could not be opened the first time is tried again by the next who asks, and not by itself', async () => {
    fateOfOpening = (attempt) => (attempt === 1 ? refused : 0)
    await expect(keeper.ready()).rejects.toBe(refused)
    await clock.advance(60)
    expect(openings).toHaveLength(1)
    await keeper.ready()
    expect(opened).toEqual([false])
  })

  it('that is lost after it proved to work is opened again at once; meanwhile whoever asks waits for it', async () => {
    await keeper.ready()
    await clock.advance(5)
    fateOfOpening = () => 1
    lose()
    await clock.advance(0)
    const ready = keeper.ready()
    await clock.advance(1)
    expect(await ready).toBe(keeper.current)
    expect([openings, opened]).toEqual([
      [0, 5],
      [false, true],
    ])
  })

  it('that cannot be opened again is tried with growing, capped and jittered pauses, and whoever asks in one is refused at once', async () => {
    await keeper.ready()
    await clock.advance(5)
    fateOfOpening = (attempt) => (attempt < 8 ? refused : 0)
    lose()
    await clock.advance(0)
    await expect(keeper.ready()).rejects.toMatchObject({ code: 'unreachable', cause: refused })
    await clock.advance(30)
    // Half a second doubled up to four, each times 0.75 by the jitter.
    expect(openings.slice(1).map((at) => at - 5)).toEqual([0, 0.375, 1.125, 2.625, 5.625, 8.625, 11.625])
    expect(opened).toEqual([false, true])
  })

  it('that is lost again and again before it proved to work is backed off from like one that cannot be opened', async () => {
    await keeper.ready()
    await clock.advance(5)
    for (let round = 0; round < 4; round++) {
      lose()
      await clock.advance(4)
    }
    expect(openings.slice(1).map((at) => at - 5)).toEqual([0, 4.375, 8.75, 13.5])
    await clock.advance(5)
    lose()
    await clock.advance(0)
    expect(openings.at(-1)).toBe(clock.monotonicSeconds())
  })

  it.each(Array.from({ length: 16 }, (_, steps) => steps))(
    'that is lost in the very instant in which it is opened is opened again (%i steps later)',
    async (steps) => {
      const original = FakeSession.prototype.query
      let statements = 0
      FakeSession.prototype.query = function (this: FakeSession, ...args) {
        const answer = original.apply(this, args)
        let left = steps
        const step = (): void => (left-- > 0 ? queueMicrotask(step) : this.destroy(new Error('gone at once')))
        // The echo is the last statement before the link is open.
        if (++statements === 2) void answer.then(step)
        return answer
      }
      const wasOpened = keeper.ready().then(
        () => true,
        () => false,
      )
      await clock.advance(4)
      FakeSession.prototype.query = original
      // One that failed while it was being opened the first time is left to the next who asks.
      if (!(await wasOpened)) await keeper.ready()
      expect([keeper.current === null, sessions.at(-1)?.isOver, sessions.length]).toEqual([false, false, 2])
    },
  )

  it.each(['isMute', 'isDeaf'] as const)(
    'that does not echo within the request timeout is destroyed and opened again (%s)',
    async (how) => {
      await keeper.ready()
      ;(sessions[0] as FakeSession)[how] = true
      await clock.advance(5)
      expect([sessions[0]?.isOver, openings]).toEqual([false, [0]])
      await clock.advance(2)
      expect([sessions[0]?.isOver, keeper.current === null]).toEqual([true, false])
    },
  )

  it('that is slow and well is not given up because many publish at once: the time to answer begins with the turn', async () => {
    const link = await keeper.ready()
    sessions[0]!.latencySeconds = 0.5
    const published = Promise.all(Array.from({ length: 10 }, () => link.notify('channel', ['text'])))
    await clock.advance(5)
    await published
    expect(sessions[0]?.isOver).toBe(false)
  })

  it('that dies fails all who wait for their turn, at once', async () => {
    const link = await keeper.ready()
    sessions[0]!.isMute = true
    const published = Array.from({ length: 3 }, () => link.notify('channel', ['text']).catch((error: unknown) => error))
    await clock.advance(2)
    expect(await Promise.all(published)).toMatchObject(Array(3).fill({ code: 'timed_out' }))
  })

  it('that hears messages wakes up nobody to prove that it does', async () => {
    await keeper.ready()
    const before = { ...sessions[0]! }
    for (let second = 0; second < 3600; second += 2) {
      await clock.advance(2)
      sessions[0]?.hear()
    }
    expect(sessions[0]?.notifications).toBe(before.notifications)
    // One question a check, so that the server does not take it for idle: no less often than a health check.
    expect(sessions[0]!.statements - before.statements).toBeGreaterThanOrEqual(720)
    expect(sessions).toHaveLength(1)
  })

  it.each([
    ['goes deaf', 'isDeaf', 7],
    ['gets no answers any more', 'isMute', 7],
  ] as const)('that heard messages and then %s is replaced as soon as one that heard none', async (_, how, seconds) => {
    await keeper.ready()
    await clock.advance(13)
    sessions[0]?.hear()
    ;(sessions[0] as FakeSession)[how] = true
    await clock.advance(seconds - 0.1)
    expect(sessions[0]?.isOver).toBe(how === 'isMute')
    await clock.advance(0.1)
    expect([sessions[0]?.isOver, keeper.current === null]).toEqual([true, false])
  })

  it('that hears messages, and whose questions are not answered, is replaced', async () => {
    await keeper.ready()
    sessions[0]!.isMute = true
    for (let second = 0; second < 8; second++) {
      sessions[0]?.hear()
      await clock.advance(1)
    }
    expect([sessions[0]?.isOver, sessions.length]).toEqual([true, 2])
  })

  it('sends one statement a health check and nothing else', async () => {
    await keeper.ready()
    const before = sessions[0]?.statements ?? 0
    await clock.advance(3600)
    expect((sessions[0]?.statements ?? 0) - before).toBe(720)
  })

  it('that is closed takes leave, and nothing is left: no timer, no attempt', async () => {
    await keeper.ready()
    await keeper.close()
    expect([sessions[0]?.tookLeave, clock.pendingTimers]).toEqual([true, 0])
    await clock.advance(60)
    expect(openings).toHaveLength(1)
    await expect(keeper.ready()).rejects.toMatchObject({ code: 'closed' })
  })

  it('that is closed while it is being prepared is given up at once', async () => {
    const original = FakeSession.prototype.query
    FakeSession.prototype.query = () => new Promise(() => {})
    const ready = keeper.ready()
    ready.catch(() => {})
    await clock.advance(0)
    await keeper.close()
    FakeSession.prototype.query = original
    await expect(ready).rejects.toMatchObject({ code: 'closed' })
    expect([sessions[0]?.isOver, clock.pendingTimers]).toEqual([true, 0])
  })

  it('is not waited for any more when it is closed in a pause between attempts', async () => {
    await keeper.ready()
    await clock.advance(5)
    fateOfOpening = () => refused
    lose()
    await clock.advance(1)
    await keeper.close()
    expect(clock.pendingTimers).toBe(0)
    const attempts = openings.length
    await clock.advance(60)
    expect(openings).toHaveLength(attempts)
  })
})
