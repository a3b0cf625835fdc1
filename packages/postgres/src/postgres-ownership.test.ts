import { getEventListeners } from 'node:events'
import type { ClaimOutcome } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeLockServer, type FakeSession, type Fate } from './fake-lock-server.test.harness.js'
import { deriveLockKey } from './lock-key.js'
import { LockSession } from './lock-session.js'
import type { PostgresLockSession } from './postgres-lock-session.js'
import { PostgresOwnership } from './postgres-ownership.js'
import type { ClaimOptions } from './postgres-ownership-options.js'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

let clock: ManualClock
let server: FakeLockServer

beforeEach(() => {
  clock = new ManualClock()
  server = new FakeLockServer(clock)
})

function newSession(identity = 'a'): PostgresLockSession {
  const locks = new LockSession({
    open: (signal) => server.open(signal, identity),
    leaseSeconds: 15,
    renewDeadlineSeconds: 10,
    waitSliceSeconds: 1,
    requestTimeoutSeconds: 5,
    clock,
    logger: SILENT,
    fields: {},
  })
  const session = { identity, clock, logger: SILENT, locks, hasConnected: true, close: () => locks.close() }
  return session as unknown as PostgresLockSession
}

function newOwnership(identity = 'a', options: ClaimOptions = {}): PostgresOwnership {
  return new PostgresOwnership({ ...options, session: newSession(identity) })
}

const keyOf = (subscription: string): string => deriveLockKey('claim/default', subscription)
const names = (outcome: ClaimOutcome): [string[], string[]] => [
  outcome.claimed.map(({ subscription }) => subscription),
  outcome.denied.map(({ subscription }) => subscription),
]

function onlySession(): FakeSession {
  expect(server.sessions.size).toBe(1)
  return [...server.sessions][0] as FakeSession
}

async function settled<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {})
  await clock.advance(0)
  return call
}

/** A signal that aborts so many steps of the promise queue after the next answer of the server. */
function abortAfterAnswer(session: FakeSession, steps: number): AbortSignal {
  const controller = new AbortController()
  const query = session.query.bind(session)
  session.query = (statement, values) => {
    const answer = query(statement, values)
    void answer.then(() => {
      let left = steps
      const step = (): void => (left-- > 0 ? queueMicrotask(step) : controller.abort(new Error('gave up')))
      step()
    })
    return answer
  }
  return controller.signal
}

describe('claiming', () => {
  it('asks for a whole batch in one statement, and answers each name once, in the order asked', async () => {
    const ownership = newOwnership()
    const rival = newOwnership('b')
    await settled(rival.claim(['s2']))
    server.seen.length = 0
    const outcome = await settled(ownership.claim(['s3', 's2', 's1', 's3']))
    expect(names(outcome)).toEqual([['s3', 's1'], ['s2']])
    expect(outcome.denied[0]?.holder).toEqual({ instanceId: 'b', detail: 'backend pid 1' })
    expect(server.seen.map(({ name }) => name)).toEqual(['es_try_lock_within', 'es_holders'])
    expect(outcome.claimed[0]?.fencingToken).toBe(outcome.claimed[1]?.fencingToken)
    expect(outcome.claimed.every(({ isHeld, signal }) => isHeld && !signal.aborted)).toBe(true)
    expect([...ownership.held.keys()]).toEqual(['s3', 's1'])
  })

  it('does not ask who holds what when nothing was denied, nor anything when there is nothing to claim', async () => {
    const ownership = newOwnership()
    expect(await settled(ownership.claim([]))).toEqual({ claimed: [], denied: [] })
    expect(server.openings).toHaveLength(0)
    await settled(ownership.claim(['s1']))
    await settled(ownership.claim(['s1']))
    expect(server.count('es_holders')).toBe(0)
  })

  it('answers a claim that exists, and another one with a larger number after a release', async () => {
    const ownership = newOwnership()
    const [first] = (await settled(ownership.claim(['s1']))).claimed
    expect((await settled(ownership.claim(['s1', 's2']))).claimed[0]).toBe(first)
    await settled(ownership.release(['s1', 's1', 'never']))
    const [second] = (await settled(ownership.claim(['s1']))).claimed
    expect(second).not.toBe(first)
    expect(second?.fencingToken).toBeGreaterThan(first?.fencingToken ?? 0n)
    expect([first?.isHeld, second?.isHeld]).toEqual([false, true])
    expect(first?.signal.reason).toMatchObject({ code: 'claim_released' })
  })

  it('refuses more than maxClaims as a whole, and counts what calls under way may still get', async () => {
    const ownership = newOwnership('a', { maxClaims: 3 })
    const underWay = ownership.claim(['s1', 's2'])
    await expect(settled(ownership.claim(['s2', 's3', 's4']))).rejects.toMatchObject({
      code: 'too_many_claims',
      message: expect.stringContaining('maxClaims is 3'),
    })
    await settled(underWay)
    expect((await settled(ownership.claim(['s1', 's2', 's3']))).claimed).toHaveLength(3)
    await expect(settled(ownership.claim(['s1', 's4']))).rejects.toMatchObject({ code: 'too_many_claims' })
    // What is held already costs nothing, even at the limit.
    expect((await settled(ownership.claim(['s1', 's2']))).claimed).toHaveLength(2)
    expect(ownership.held.size).toBe(3)
  })

  it('refuses a batch that the lock table has no room for, keeps all that was held, and unlocks what the failed statement had locked', async () => {
    const ownership = newOwnership()
    const [kept] = (await settled(ownership.claim(['s1']))).claimed
    server.fateOf = ({ name, session }): Fate => {
      if (name !== 'es_try_lock_within') return 'answer'
      server.lock(keyOf('s2'), session)
      return Object.assign(new Error('out of shared memory'), { code: '53200' })
    }
    const error = await settled(ownership.claim(['s1', 's2', 's3'])).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'too_many_claims', message: expect.stringMatching(/max_locks_per_transaction.*maxLockTableShare/) })
    expect(server.holderOf(keyOf('s2'))).toBeUndefined()
    expect([kept?.isHeld, ownership.held.size, server.openings.length]).toEqual([true, 1, 1])
    server.fateOf = () => 'answer'
    expect(await settled(newOwnership('b').claim(['s1']))).toMatchObject({ claimed: [] })
  })

  it('names the numbers, the option and the setting when the batch would exceed its share of the lock table', async () => {
    const ownership = newOwnership()
    const row = { locked: [], token: null, fits: false, present: 90, capacity: 200, locks_per_transaction: 10, table_share: 0.5 }
    server.fateOf = () => ({ row })
    await expect(settled(ownership.claim(['s1', 's2']))).rejects.toThrow(
      /90 of about 200 entries \(max_locks_per_transaction = 10\) are taken, and 2 more would exceed the allowed share of 0\.5.*raise max_locks_per_transaction.*or maxLockTableShare/,
    )
  })

  it('refuses options that make no sense, names that are none, and a namespace that is in use on the same session', async () => {
    const session = newSession()
    const make = (options: ClaimOptions) => () => new PostgresOwnership({ ...options, session })
    for (const maxLockTableShare of [0, -1, 1.1, Number.NaN, '1' as never])
      expect(make({ maxLockTableShare })).toThrow(/^maxLockTableShare must be/)
    for (const maxClaims of [0, 1.5, Number.POSITIVE_INFINITY]) expect(make({ maxClaims })).toThrow(/^maxClaims must be/)
    expect(make({ namespace: '' })).toThrow(/^namespace must be/)
    const first = make({})()
    expect(make({})).toThrow(/share that one/)
    expect(make({ namespace: 'other' })).not.toThrow()
    await settled(first.close())
    expect(make({})).not.toThrow()
    await expect(make({ namespace: 'third' })().claim([''])).rejects.toThrow(/^subscription must be/)
  })
})

describe('a call that is given up', () => {
  it.each(['timeout', 'abort'])(
    'holds nothing new by a %s, before or after its statement was carried out, and leaves no listener',
    async (how) => {
      for (const afterSeconds of [0.4, 0.5, 2]) {
        server = new FakeLockServer(clock)
        const ownership = newOwnership()
        const [kept] = (await settled(ownership.claim(['kept']))).claimed
        server.fateOf = ({ name }) => (name === 'es_try_lock_within' ? { afterSeconds } : 'answer')
        const controller = new AbortController()
        const call = ownership.claim(['kept', 's1'], how === 'timeout' ? { timeoutSeconds: 0.5 } : { signal: controller.signal })
        const outcome = call.then(
          () => 'claimed',
          (error: unknown) => error,
        )
        clock.setTimer(0.5, () => controller.abort(new Error('gave up')))
        await clock.advance(3)
        if ((await outcome) === 'claimed') {
          expect(afterSeconds).toBeLessThanOrEqual(0.5)
          await settled(ownership.release(['s1']))
        } else {
          expect(await outcome).toMatchObject(how === 'timeout' ? { code: 'timed_out' } : { message: 'gave up' })
        }
        expect(server.holderOf(keyOf('s1'))).toBeUndefined()
        expect([...ownership.held.values()]).toEqual([kept])
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
      }
    },
  )

  it('unlocks what it won in the instant in which it was given up (N2)', async () => {
    const outcomes: string[] = []
    // Every step of the promise queue after the server's answer is an instant in which the abort may come.
    for (let steps = 0; steps < 24; steps++) {
      server = new FakeLockServer(clock)
      const ownership = newOwnership()
      await settled(ownership.claim(['kept']))
      const session = onlySession()
      const signal = abortAfterAnswer(session, steps)
      const outcome = await settled(ownership.claim(['s1'], { signal })).then(
        () => 'claimed',
        () => 'given up',
      )
      await clock.advance(0)
      outcomes.push(outcome)
      expect([steps, session.stacked.has(keyOf('s1')), ownership.held.has('s1')]).toEqual([
        steps,
        outcome === 'claimed',
        outcome === 'claimed',
      ])
    }
    expect(new Set(outcomes)).toEqual(new Set(['given up', 'claimed']))
  })

  it('leaves what it won in that instant to another call that wants it too (N2)', async () => {
    for (let steps = 0; steps < 24; steps++) {
      server = new FakeLockServer(clock)
      const ownership = newOwnership()
      await settled(ownership.claim(['kept']))
      const session = onlySession()
      const signal = abortAfterAnswer(session, steps)
      ownership.claim(['s1'], { signal }).catch(() => {})
      const outcome = await settled(ownership.claim(['s1']))
      expect([steps, ...names(outcome), outcome.claimed[0]?.isHeld, session.stacked.get(keyOf('s1'))]).toEqual([steps, ['s1'], [], true, 1])
    }
  })

  it('leaves a lock to another call that wants it too', async () => {
    const ownership = newOwnership()
    const controller = new AbortController()
    const first = ownership.claim(['s1'], { signal: controller.signal })
    const second = ownership.claim(['s1', 's2'])
    first.catch(() => {})
    controller.abort()
    expect(names(await settled(second))).toEqual([['s1', 's2'], []])
    expect(server.holderOf(keyOf('s1'))).toBe(onlySession())
    expect(ownership.held.size).toBe(2)
  })
})

describe('the end of a claim', () => {
  it('aborts all signals, in the step in which the loss is reported, when the session ends', async () => {
    const ownership = newOwnership()
    const { claimed } = await settled(ownership.claim(['s1', 's2', 's3']))
    const seen: unknown[] = []
    for (const { signal, subscription } of claimed)
      signal.addEventListener('abort', () => seen.push([subscription, signal.reason.code, ownership.held.size]))
    // What is lost already cannot be released any more.
    claimed[0]?.signal.addEventListener('abort', () => void ownership.release(['s2']))
    onlySession().terminate('terminated by an administrator')
    await clock.advance(0)
    expect(seen).toEqual([
      ['s1', 'claim_lost', 0],
      ['s2', 'claim_lost', 0],
      ['s3', 'claim_lost', 0],
    ])
    expect(claimed[0]?.signal.reason.cause.message).toBe('terminated by an administrator')
    const again = await settled(ownership.claim(['s1']))
    expect(again.claimed[0]?.fencingToken).toBeGreaterThan(claimed[0]?.fencingToken ?? 0n)
  })

  it('is lost by the renew deadline when the server falls silent, on the clock and by the signal', async () => {
    const ownership = newOwnership()
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    onlySession().isCutOff = true
    await clock.advance(9.999)
    expect([claim?.isHeld, ownership.held.size, claim?.signal.aborted]).toEqual([true, 1, false])
    await clock.advance(0.001)
    expect([claim?.isHeld, ownership.held.size, claim?.signal.aborted]).toEqual([false, 0, true])
  })

  it('shows on the first line after a pause, before anything has been reported', async () => {
    const ownership = newOwnership()
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    const seen: unknown[] = []
    // Set before the deadline's own timer is due: the pause ends here.
    const now = clock.monotonicSeconds.bind(clock)
    clock.monotonicSeconds = () => now() + 60
    seen.push(claim?.isHeld, ownership.held.size, claim?.signal.aborted)
    clock.monotonicSeconds = now
    expect(seen).toEqual([false, 0, false])
  })

  it('comes with the call of release, before the server was told, and a claim again in the abort listener gets the next tenure', async () => {
    const ownership = newOwnership()
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    let again: Promise<ClaimOutcome> | undefined
    claim?.signal.addEventListener('abort', () => {
      again = ownership.claim(['s1'])
    })
    const released = ownership.release(['s1'])
    expect([claim?.isHeld, claim?.signal.aborted, ownership.held.size]).toEqual([false, true, 0])
    await settled(released)
    const [next] = (await again)?.claimed ?? []
    expect([next?.isHeld, next === claim, server.holderOf(keyOf('s1')) !== undefined]).toEqual([true, false, true])
  })

  it('shows on a signal that is first asked for afterwards', async () => {
    const ownership = newOwnership()
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    await settled(ownership.release(['s1']))
    onlySession().terminate()
    await clock.advance(0)
    expect(claim?.signal.reason).toMatchObject({ code: 'claim_released' })
  })

  it('is a loss when a shared session is closed by whoever made it', async () => {
    const session = newSession()
    const ownership = new PostgresOwnership({ session })
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    const { signal } = claim as { signal: AbortSignal }
    await settled(session.close())
    expect([signal.reason?.code, ownership.held.size]).toEqual(['claim_lost', 0])
    await expect(ownership.claim(['s1'])).rejects.toMatchObject({ code: 'closed' })
  })

  it('comes with close, which unlocks on a shared session and leaves it open, and gives up calls under way', async () => {
    const session = newSession()
    const ownership = new PostgresOwnership({ session })
    const [claim] = (await settled(ownership.claim(['s1']))).claimed
    server.fateOf = ({ name }) => (name === 'es_try_lock_within' ? { afterSeconds: 1 } : 'answer')
    const underWay = ownership.claim(['s2'])
    underWay.catch(() => {})
    await clock.advance(0)
    const closed = ownership.close()
    expect([claim?.signal.reason.code, claim?.isHeld]).toEqual(['claim_released', false])
    await expect(underWay).rejects.toMatchObject({ code: 'closed' })
    await clock.advance(2)
    await closed
    expect(ownership.close()).toBe(closed)
    expect([...onlySession().stacked]).toEqual([])
    await expect(ownership.claim(['s1'])).rejects.toMatchObject({ code: 'closed' })
    await expect(ownership.observe(['s1'])).rejects.toMatchObject({ code: 'closed' })
    await session.close()
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('claims and releases in any interleaving', () => {
  type Step =
    | { readonly do: 'claim'; readonly subscriptions: readonly string[]; readonly abortAfter: number | null }
    | { readonly do: 'release'; readonly subscriptions: readonly string[] }
    | { readonly do: 'wait'; readonly seconds: number }
    | { readonly do: 'terminate' }
  const subscriptions = fc.uniqueArray(fc.constantFrom('s1', 's2', 's3', 's4'), { minLength: 1 })
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('claim' as const),
        subscriptions,
        abortAfter: fc.option(fc.constantFrom(0, 0.01, 0.02, 0.05)),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), subscriptions }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(0, 0.01, 0.03) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'terminate' as const }) },
  )

  it('never leave a lock without a claim, nor a claim without a lock, nor two holders (N1)', async () => {
    const run = fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('a', 'b'), step), { maxLength: 40 }), async (script) => {
      clock = new ManualClock()
      server = new FakeLockServer(clock)
      server.fateOf = () => ({ afterSeconds: 0.02 })
      const ownerships = { a: newOwnership('a'), b: newOwnership('b') }
      const calls: Promise<unknown>[] = []
      for (const [who, action] of script) {
        const ownership = ownerships[who as 'a' | 'b']
        if (action.do === 'wait') await clock.advance(action.seconds)
        else if (action.do === 'release') calls.push(ownership.release(action.subscriptions).catch(() => {}))
        else if (action.do === 'terminate') [...server.sessions].find(({ applicationName }) => applicationName === who)?.terminate()
        else {
          const controller = new AbortController()
          if (action.abortAfter !== null) clock.setTimer(action.abortAfter, () => controller.abort(new Error('gave up')))
          const requireWhole = ({ claimed, denied }: ClaimOutcome): void => {
            expect([...claimed, ...denied].map(({ subscription }) => subscription).toSorted()).toEqual(action.subscriptions.toSorted())
          }
          calls.push(
            ownership
              .claim(action.subscriptions, { signal: controller.signal })
              .then(requireWhole, (error: Error & { code?: string }) =>
                expect(error.code ?? error.message).toMatch(/^(gave up|connection_lost)$/),
              ),
          )
        }
      }
      await clock.advance(5)
      await Promise.all(calls)
      const held = Object.entries(ownerships).flatMap(([who, ownership]) => [...ownership.held.keys()].map((name) => [keyOf(name), who]))
      const locked = [...server.sessions].flatMap(({ applicationName, stacked }) =>
        [...stacked].map(([key, times]) => [key, times === 1 ? applicationName : `${applicationName} x ${times}`]),
      )
      expect(held.toSorted()).toEqual(locked.toSorted())
      for (const { held: claims } of Object.values(ownerships)) for (const claim of claims.values()) expect(claim.isHeld).toBe(true)
    })
    await fc.assert(run, { numRuns: 300 })
  })
})
