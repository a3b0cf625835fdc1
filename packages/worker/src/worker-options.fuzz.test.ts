import { CoordinationError } from '@es/coordination-core'
import { InMemoryLeaderElector, InMemoryOwnership, InMemoryTransport, SharedBus, SharedClaims } from '@es/coordination-memory'
import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { seededRandom } from './cluster.test.harness.js'
import { CoordinatedWorker } from './coordinated-worker.js'
import { runAsLeader } from './run-as-leader.js'

// What others are fuzzed with is no dependency here; a seeded choice from a list of values that hurt does as well for options.
const { FUZZ_SEED = '1', FUZZ_FACTOR = '1' } = process.env
const INPUTS = 5000 * Number(FUZZ_FACTOR)

const lines: string[] = []
const note = (fields: object, message: string): void => void lines.push(`${message} ${Object.keys(fields).join()}`)
const logger = { debug: note, info: note, warn: note, error: note }
const elector = new InMemoryLeaderElector('me')

const FIT: Readonly<Record<string, unknown>> = {
  ...{ instanceId: 'me', subscriptions: ['a', { name: 'b', weight: 2 }], run: async () => {}, elector, logger },
  transport: new InMemoryTransport({ bus: new SharedBus(), name: 'me', logger }),
  ownership: new InMemoryOwnership('me', { claims: new SharedClaims() }),
  ...{ leaderWork: async () => {}, mayLead: true, mayRun: () => true, capacity: 3, inFlightCount: () => 1, loadFactor: () => 0.5 },
  ...{
    heartbeatIntervalSeconds: 5,
    heartbeatTimeoutSeconds: 15,
    drainTimeoutSeconds: 30,
    electionIntervalSeconds: 5,
    observeIntervalSeconds: 0.5,
  },
  ...{
    crashGraceSeconds: 0.5,
    settleSeconds: 2,
    restartGraceSeconds: 0,
    massLossHoldSeconds: 30,
    coldStartSeconds: 2,
    maxMovesPerRound: 3,
  },
  ...{ maxPeers: 10, trustsClaimlessPeers: true, maxFailedRounds: 3, maxRunFailures: 5, declineSeconds: 60, longestRunPauseSeconds: 30 },
  ...{ noLeaderWarningSeconds: 30, handleSignals: false, dispose: [], incarnation: 'i', clock: new ManualClock(), random: Math.random },
  planner: () => ({}),
}

const HURTFUL: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, 1, -1, 0.005, 0.5, 15, 86_401, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 5n, -1n],
  ...['', 'x', '15', '\ud800', '__proto__', 'x'.repeat(1001), 'x'.repeat(1025), 'x'.repeat(1_000_000), Symbol('s')],
  ...[
    [],
    {},
    [null],
    [''],
    ['a', 'a'],
    [{ name: 'a', weight: 0 }],
    [
      { name: 'a', weight: 1e308 },
      { name: 'b', weight: 1e308 },
    ],
    [{}],
    [[]],
  ],
  ...[new Map(), new Set(), Object.create(null), () => 1, new Date(Number.NaN), new Uint8Array(3), Promise.resolve()],
  ...[{ now() {} }, { claim() {}, release() {}, observe() {}, instanceId: 'other' }, [{ [Symbol.asyncDispose]: 5 }]],
  Array.from({ length: 10_001 }, (_, index) => `s${index}`),
  Array.from({ length: 2000 }, (_, index) => `${index}`.padStart(500, 'x')),
]

/** Whether it went well; otherwise one documented error, and a short one. */
function succeeds(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(CoordinationError)
    expect((error as CoordinationError).code).toBe('invalid_options')
    expect((error as CoordinationError).message.length).toBeLessThan(500)
    return false
  }
}

it(`options, whatever they are, make a worker, or one documented error; ${INPUTS} of them, with the seed ${FUZZ_SEED}`, () => {
  const random = seededRandom(Number(FUZZ_SEED))
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const keys = Object.keys(FIT)
  const outcomes = new Set<boolean>()
  for (let input = 0; input < INPUTS; input++) {
    const options: Record<string, unknown> = { ...FIT }
    for (let change = Math.floor(random() * 3); change >= 0; change--) options[pick(keys)] = pick(HURTFUL)
    if (random() < 0.3) delete options[pick(keys)]
    outcomes.add(succeeds(() => new CoordinatedWorker(options as never)))
  }
  expect(outcomes).toEqual(new Set([true, false]))
})

it('each option with each value that hurts makes a worker, or one documented error', () => {
  for (const key of Object.keys(FIT)) for (const value of HURTFUL) succeeds(() => new CoordinatedWorker({ ...FIT, [key]: value } as never))
  for (const value of HURTFUL) succeeds(() => new CoordinatedWorker(value as never))
})

it('runAsLeader rejects what is off with one documented error, and runs nothing', async () => {
  const over = AbortSignal.abort()
  for (const key of ['electionIntervalSeconds', 'drainTimeoutSeconds', 'clock', 'logger']) {
    for (const value of HURTFUL) {
      const outcome = await runAsLeader(elector, async () => expect.unreachable(), { signal: over, [key]: value } as never).catch(
        (error: unknown) => error,
      )
      if (outcome !== undefined) expect(outcome).toMatchObject({ code: 'invalid_options' })
    }
  }
  for (const value of HURTFUL) {
    const work = async (): Promise<void> => expect.unreachable()
    await expect(runAsLeader(value as never, work, { signal: over })).rejects.toMatchObject({ code: 'invalid_options' })
    if (typeof value !== 'object' || value === null) {
      const outcome = await runAsLeader(elector, work, value as never).catch((error: unknown) => error)
      if (value !== undefined) expect(outcome).toMatchObject({ code: 'invalid_options' })
    }
    if (typeof value !== 'function')
      await expect(runAsLeader(elector, value as never, { signal: over })).rejects.toMatchObject({ code: 'invalid_options' })
  }
})
