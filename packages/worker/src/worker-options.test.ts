import { type CoordinationError, consoleLogger } from '@es/coordination-core'
import { InMemoryLeaderElector, InMemoryOwnership, InMemoryTransport, SharedBus, SharedClaims } from '@es/coordination-memory'
import { describe, expect, it } from 'vitest'
import { CoordinatedWorker } from './coordinated-worker.js'
import { type CoordinatedWorkerOptions, parseWorkerOptions } from './worker-options.js'

const GOOD: CoordinatedWorkerOptions = {
  instanceId: 'a',
  subscriptions: ['s'],
  run: async () => {},
  elector: new InMemoryLeaderElector('a'),
  transport: new InMemoryTransport({ bus: new SharedBus() }),
}

/** The message with which `options` are refused. */
function refusalOf(options: Record<string, unknown>): string {
  try {
    parseWorkerOptions({ ...GOOD, ...options } as CoordinatedWorkerOptions)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_options' })
    return (error as CoordinationError).message
  }
  return 'accepted'
}

const MUST_BE_SOME = [
  'heartbeatIntervalSeconds',
  'heartbeatTimeoutSeconds',
  'electionIntervalSeconds',
  'observeIntervalSeconds',
  'declineSeconds',
  'longestRunPauseSeconds',
  'noLeaderWarningSeconds',
]
const MAY_BE_NONE = [
  'drainTimeoutSeconds',
  'crashGraceSeconds',
  'settleSeconds',
  'restartGraceSeconds',
  'massLossHoldSeconds',
  'coldStartSeconds',
]
const COUNTS = ['maxMovesPerRound', 'maxFailedRounds', 'maxRunFailures']

describe('a bad setting is refused at construction, with its name, its value and the rule (W4)', () => {
  for (const name of [...MUST_BE_SOME, ...MAY_BE_NONE]) {
    it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, 30 * 86_400, '5', null, 86_400.1])(`${name}: %s`, (value) => {
      const message = refusalOf({ [name]: value })
      expect(message).toContain(`${name} must be a finite number of seconds`)
      expect(message).toContain('86400')
    })
  }
  it.each(MUST_BE_SOME)('%s: 0, or so little that a process does nothing else', (name) => {
    expect(refusalOf({ [name]: 0 })).toContain(name)
    expect(refusalOf({ [name]: 1e-9 })).toContain(name)
  })
  it.each(COUNTS)('%s: no whole number of at least 1', (name) => {
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null]) {
      if (value === null && name !== 'maxMovesPerRound') continue
      expect(refusalOf({ [name]: value }), String(value)).toContain(`${name} must be a whole number of at least 1`)
    }
  })
  it.each<[name: string, value: unknown, message: string]>([
    ['instanceId', '', 'instanceId must be non-empty'],
    ['instanceId', undefined, 'instanceId must be'],
    ['incarnation', '', 'incarnation must be'],
    ['subscriptions', 'all', 'subscriptions must be a list of names, got "all"'],
    ['subscriptions', ['s', 's'], 'subscriptions must be free of repeated names, got "s"'],
    ['subscriptions', [''], 'a subscription name must be'],
    ['subscriptions', [{ name: 's', weight: 0 }], 'the weight of subscription "s" must be a finite number above 0, got 0'],
    ['subscriptions', [{ name: 's', weight: Number.NaN }], 'the weight of subscription "s"'],
    ['subscriptions', Array.from({ length: 10_001 }, (_, index) => `s${index}`), 'subscriptions.length must be at most 10000, got 10001'],
    ['run', undefined, 'run must be a function, got undefined'],
    ['mayRun', true, 'mayRun must be a function, got true'],
    ['planner', {}, 'planner must be a function'],
    ['random', 4, 'random must be a function, got 4'],
    ['inFlightCount', 4, 'inFlightCount must be a function, got 4'],
    ['loadFactor', 0.5, 'loadFactor must be a function, got 0.5'],
    ['leaderWork', 'work', 'leaderWork must be a function, got "work"'],
    ['mayLead', 'false', 'mayLead must be true or false, got "false"'],
    ['handleSignals', 1, 'handleSignals must be true or false, got 1'],
    ['capacity', -1, 'capacity must be a finite number of at least 0, got -1'],
    ['capacity', Number.POSITIVE_INFINITY, 'capacity must be a finite number'],
    ['elector', {}, 'elector must be a LeaderElector; it lacks identity, isLeader, currentLeader, tryAcquire'],
    ['elector', 'a', 'elector must be a LeaderElector, got "a"'],
    ['transport', {}, 'transport must be an object with the methods publish, subscribe, onResync; it lacks publish, subscribe, onResync'],
    ['transport', undefined, 'transport must be an object with the methods publish, subscribe, onResync, got undefined'],
    ['ownership', { instanceId: 'a', claim: () => {} }, 'it lacks release, observe'],
    ['clock', {}, 'it lacks now, monotonicSeconds, setTimer'],
    ['logger', { info: () => {} }, 'it lacks debug, warn, error'],
    ['dispose', {}, 'dispose must be a list of resources'],
    ['dispose', [{}], 'dispose must be a list of resources with Symbol.asyncDispose, got a value of type object'],
  ])('%s: %s', (name, value, message) => {
    expect(refusalOf({ [name]: value })).toContain(message)
  })
})

describe('a relation between settings that cannot work is refused, naming both and their values', () => {
  it('of a heartbeat interval above a third of the timeout', () => {
    expect(refusalOf({ heartbeatIntervalSeconds: 6 })).toBe(
      'heartbeatIntervalSeconds must be at most 5, a third of heartbeatTimeoutSeconds, which is 15, got 6',
    )
    expect(refusalOf({ heartbeatTimeoutSeconds: 10 })).toContain('heartbeatTimeoutSeconds, which is 10')
    expect(refusalOf({ heartbeatIntervalSeconds: 0.1, heartbeatTimeoutSeconds: 0.3 })).toBe('accepted')
  })

  it("of an ownership adapter under another instance's id", () => {
    expect(refusalOf({ ownership: new InMemoryOwnership('b', { claims: new SharedClaims() }) })).toBe(
      `ownership.instanceId must be the worker's instanceId, which is "a", got "b"`,
    )
  })

  it("of leader's work in an instance that may not lead", () => {
    expect(refusalOf({ leaderWork: async () => {}, mayLead: false })).toBe('mayLead must be true when there is leaderWork, got false')
  })
})

describe('the defaults', () => {
  it('follow the guide: a heartbeat every 5 s, a timeout of 15 s, a drain of 30 s', () => {
    expect(parseWorkerOptions(GOOD)).toMatchObject({
      heartbeatIntervalSeconds: 5,
      heartbeatTimeoutSeconds: 15,
      drainTimeoutSeconds: 30,
      logger: expect.anything(),
    })
  })

  it('follow each other where they are not set, without blame for what was not set', () => {
    const day = parseWorkerOptions({ ...GOOD, heartbeatTimeoutSeconds: 86_400 })
    expect(day).toMatchObject({ massLossHoldSeconds: 172_800, noLeaderWarningSeconds: 172_800, coldStartSeconds: 86_400 })
    expect(
      parseWorkerOptions({ ...GOOD, ownership: new InMemoryOwnership('a', { claims: new SharedClaims() }), settleSeconds: 7 })
        .coldStartSeconds,
    ).toBe(7)
  })

  it('give each worker an incarnation of its own', () => {
    expect(parseWorkerOptions(GOOD).incarnation).not.toBe(parseWorkerOptions(GOOD).incarnation)
  })
})

it('copies the list of subscriptions, so that a later change of it changes nothing', () => {
  const subscriptions = ['s', 't']
  const parsed = parseWorkerOptions({ ...GOOD, subscriptions })
  subscriptions.pop()
  expect(parsed.subscriptions.map(({ name }) => name)).toEqual(['s', 't'])
})

it('starts nothing when it refuses', () => {
  expect(() => new CoordinatedWorker({ ...GOOD, logger: consoleLogger, settleSeconds: -1 })).toThrow('settleSeconds')
})
