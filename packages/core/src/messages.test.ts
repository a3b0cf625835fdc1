import { describe, expect, it } from 'vitest'
import { InvalidMessageError } from './errors.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { at } from './manual-clock.test.harness.js'
import { MAX_EPOCH, MAX_SUBSCRIPTIONS } from './message-schema.js'
import { MAX_NAME_LENGTH } from './options.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { WorkAssignment } from './work-assignment.js'

const heartbeat = { instance_id: 'w', timestamp: '2026-03-01T12:00:00+00:00' }
const shutdown = {
  instance_id: 'w',
  intent: 'graceful',
  initiated_at: '2026-03-01T12:00:00+00:00',
  expected_completion_at: '2026-03-01T12:00:30+00:00',
}
const assignment = { target_instance_id: 'a', subscriptions: ['s'], source_instance_id: 'b', assigned_at: '2026-03-01T12:00:00+00:00' }

function refusal(run: () => unknown): InvalidMessageError {
  try {
    run()
  } catch (error) {
    if (error instanceof InvalidMessageError) return error
    throw error
  }
  throw new Error('It was accepted')
}

function paths(run: () => unknown): string[] {
  return refusal(run).issues.map(({ path }) => path)
}

describe('every message', () => {
  const messages = [
    HeartbeatMessage.fromDict({ ...heartbeat, subscriptions: ['s'] }),
    ShutdownNotification.fromDict({ ...shutdown, subscriptions: ['s'], metadata: { a: { b: 1 } } }),
    WorkAssignment.fromDict(assignment),
  ]

  it.each(messages)('is frozen, lists included: $constructor.name', (message) => {
    expect(Object.isFrozen(message)).toBe(true)
    expect(() => (message.subscriptions as string[]).push('x')).toThrow(TypeError)
    expect(() => Object.assign(message, { subscriptions: [] })).toThrow(TypeError)
  })

  it.each(messages)('does not share what it was made of: $constructor.name', (message) => {
    const subscriptions = ['s']
    const instant = new Date(at(0))
    const instants = { timestamp: instant, initiatedAt: instant, expectedCompletionAt: instant, assignedAt: instant }
    const Type = message.constructor as new (props: object) => { subscriptions: readonly string[]; toDict(): object }
    const made = new Type({ ...message, subscriptions, ...instants })
    const before = JSON.stringify(made.toDict())
    subscriptions.push('x')
    instant.setTime(0)
    expect(JSON.stringify(made.toDict())).toBe(before)
  })

  it.each(messages)('refuses what is no object: $constructor.name', (message) => {
    const { fromDict } = message.constructor as unknown as { fromDict(dict: unknown): unknown }
    for (const value of [null, undefined, 1, 'x', true, [], [heartbeat]]) {
      expect(refusal(() => fromDict(value)).issues).toEqual([{ path: '', expected: 'a JSON object' }])
    }
  })

  it('names every wrong field, in the words of the wire when read and in those of the properties when made', () => {
    const wrong = {
      instance_id: '',
      timestamp: 1,
      subscriptions: 'x',
      in_flight_count: -1,
      is_leader: 'yes',
      load_factor: 2,
      incarnation: '',
      sequence: 0.5,
    }
    expect(paths(() => HeartbeatMessage.fromDict(wrong))).toEqual(Object.keys(wrong))
    const made = {
      instanceId: 1,
      timestamp: 'x',
      subscriptions: {},
      inFlightCount: 0.5,
      isLeader: 1,
      loadFactor: -0.1,
      incarnation: 1,
      sequence: -1,
    }
    expect(paths(() => new HeartbeatMessage(made as never))).toEqual(Object.keys(made))
    expect(paths(() => ShutdownNotification.fromDict({}))).toEqual(['instance_id', 'intent', 'initiated_at', 'expected_completion_at'])
    expect(paths(() => WorkAssignment.fromDict({}))).toEqual(['target_instance_id', 'subscriptions', 'source_instance_id', 'assigned_at'])
  })

  it('never repeats the input, however long it is', () => {
    const text = 'secret'.repeat(100_000)
    const error = refusal(() =>
      ShutdownNotification.fromDict({
        instance_id: text,
        intent: text,
        initiated_at: text,
        subscriptions: [text],
        metadata: { [text]: Number.NaN },
      }),
    )
    expect(error.message).not.toContain('secret')
    expect(error.message.length).toBeLessThan(2000)
  })

  it('reports the first few faults of a long list, and those of the other fields all the same', () => {
    const subscriptions = new Array(MAX_SUBSCRIPTIONS).fill('')
    const error = refusal(() => HeartbeatMessage.fromDict({ ...heartbeat, subscriptions, load_factor: 2 }))
    expect(error.issues.map(({ path }) => path)).toEqual(['subscriptions[0]', 'subscriptions[1]', 'subscriptions[2]', 'load_factor'])
    expect(error.message.length).toBeLessThan(2000)
  })

  it('collapses repeated subscriptions in their first order and refuses more than the limit (C9)', () => {
    expect(HeartbeatMessage.fromDict({ ...heartbeat, subscriptions: new Array(1000).fill('s') }).subscriptions).toEqual(['s'])
    expect(HeartbeatMessage.fromDict({ ...heartbeat, subscriptions: ['b', 'a', 'b'] }).subscriptions).toEqual(['b', 'a'])
    const names = Array.from({ length: 100_000 }, (_, index) => `s${index}`)
    expect(HeartbeatMessage.fromDict({ ...heartbeat, subscriptions: names.slice(0, MAX_SUBSCRIPTIONS) }).subscriptions).toHaveLength(
      MAX_SUBSCRIPTIONS,
    )
    expect(paths(() => HeartbeatMessage.fromDict({ ...heartbeat, subscriptions: names }))).toEqual(['subscriptions'])
  })

  it('refuses names that are too long or no well-formed Unicode', () => {
    expect(HeartbeatMessage.fromDict({ ...heartbeat, instance_id: 'x'.repeat(MAX_NAME_LENGTH) }).instanceId).toHaveLength(MAX_NAME_LENGTH)
    expect(paths(() => HeartbeatMessage.fromDict({ ...heartbeat, instance_id: 'x'.repeat(MAX_NAME_LENGTH + 1) }))).toEqual(['instance_id'])
    expect(paths(() => HeartbeatMessage.fromDict({ ...heartbeat, instance_id: '\ud800' }))).toEqual(['instance_id'])
    expect(HeartbeatMessage.fromDict({ ...heartbeat, instance_id: '😀' }).instanceId).toBe('😀')
  })

  it('takes ids and subscriptions such as __proto__ like any other (M4)', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const message = HeartbeatMessage.fromDict(JSON.parse(JSON.stringify({ ...heartbeat, instance_id: '__proto__', subscriptions: names })))
    expect(message.instanceId).toBe('__proto__')
    expect(message.subscriptions).toEqual(names)
  })

  it.each(['subscriptions', 'in_flight_count', 'is_leader', 'load_factor', 'incarnation', 'sequence'])(
    'refuses null for %s (M5)',
    (key) => {
      expect(paths(() => HeartbeatMessage.fromDict({ ...heartbeat, [key]: null }))).toEqual([key])
    },
  )

  it.each([
    ['in_flight_count', -1],
    ['in_flight_count', 0.5],
    ['in_flight_count', 2 ** 53],
    ['in_flight_count', '1'],
    ['load_factor', 1.5],
    ['load_factor', Number.NaN],
    ['load_factor', Number.POSITIVE_INFINITY],
    ['load_factor', '0.5'],
    ['is_leader', 1],
    ['timestamp', new Date(0)],
    ['timestamp', '2026-02-30T00:00:00Z'],
    ['timestamp', '2026-03-01T12:00:00'],
  ])('refuses a heartbeat whose %s is %s', (key, value) => {
    expect(paths(() => HeartbeatMessage.fromDict({ ...heartbeat, [key]: value }))).toEqual([key])
  })

  it('writes no negative zero, which JSON would read as another number', () => {
    const message = new HeartbeatMessage({ instanceId: 'w', timestamp: at(0), inFlightCount: -0, loadFactor: -0, sequence: -0 })
    for (const value of [message.inFlightCount, message.loadFactor, message.sequence]) expect(value).toBe(0)
  })
})

describe('HeartbeatMessage', () => {
  it('has the keys of the reference in its order, and our additions only when they are set', () => {
    const reference = ['instance_id', 'timestamp', 'subscriptions', 'in_flight_count', 'is_leader', 'load_factor']
    expect(Object.keys(HeartbeatMessage.fromDict(heartbeat).toDict())).toEqual(reference)
    const added = new HeartbeatMessage({ instanceId: 'w', timestamp: at(0), incarnation: 'i', sequence: 0 })
    expect(Object.keys(added.toDict())).toEqual([...reference, 'incarnation', 'sequence'])
    expect(added.toDict()).toMatchObject({ timestamp: '2026-03-01T12:00:00.000+00:00', incarnation: 'i', sequence: 0 })
  })

  it('is stale when it is older than the age, not when it is exactly as old', () => {
    const message = new HeartbeatMessage({ instanceId: 'w', timestamp: at(0) })
    expect(message.isStale(15, at(15))).toBe(false)
    expect(message.isStale(15, at(15.001))).toBe(true)
    expect(message.isStale(undefined, at(15.001))).toBe(true)
    expect(message.isStale(60, at(15.001))).toBe(false)
    expect(new HeartbeatMessage({ instanceId: 'w', timestamp: new Date() }).isStale()).toBe(false)
    expect(new HeartbeatMessage({ instanceId: 'w', timestamp: new Date(0) }).isStale()).toBe(true)
  })
})

describe('ShutdownNotification', () => {
  const notification = ShutdownNotification.fromDict(shutdown)

  it('counts the time that remains, and is expired from its last instant on', () => {
    expect(notification.timeRemainingSecondsAt(at(10))).toBe(20)
    expect(notification.isExpiredAt(at(29.999))).toBe(false)
    expect(notification.timeRemainingSecondsAt(at(30))).toBe(0)
    expect(notification.isExpiredAt(at(30))).toBe(true)
    expect(notification.timeRemainingSecondsAt(at(100))).toBe(0)
  })

  it('uses the wall clock where no instant is given', () => {
    const open = new ShutdownNotification({ ...notification, expectedCompletionAt: new Date(Date.now() + 3_600_000) })
    expect(open.isExpired).toBe(false)
    expect(open.timeRemainingSeconds).toBeGreaterThan(3500)
    const past = new ShutdownNotification({ ...notification, expectedCompletionAt: new Date(0) })
    expect(past.isExpired).toBe(true)
    expect(past.timeRemainingSeconds).toBe(0)
  })

  it('takes the four intents of the reference and no other', () => {
    for (const intent of Object.values(ShutdownIntent)) expect(ShutdownNotification.fromDict({ ...shutdown, intent }).intent).toBe(intent)
    for (const intent of ['GRACEFUL', 'constructor', '', 1, null]) {
      expect(paths(() => ShutdownNotification.fromDict({ ...shutdown, intent }))).toEqual(['intent'])
    }
  })

  it('keeps a __proto__ key of the metadata as data, through JSON text and back (M4)', () => {
    const text = '{"__proto__":{"is_leader":true},"constructor":1}'
    const read = ShutdownNotification.fromDict({ ...shutdown, metadata: JSON.parse(text) })
    expect(JSON.stringify(read.toDict().metadata)).toBe(text)
    expect((read as { is_leader?: unknown }).is_leader).toBeUndefined()
    expect(({} as { is_leader?: unknown }).is_leader).toBeUndefined()
  })

  it('refuses metadata that JSON cannot hold, naming only the field', () => {
    for (const metadata of [null, [], 'x', { a: Number.NaN }]) {
      expect(paths(() => ShutdownNotification.fromDict({ ...shutdown, metadata }))).toEqual(['metadata'])
    }
  })
})

describe('WorkAssignment', () => {
  it('carries the epoch as decimal text, however large', () => {
    const message = new WorkAssignment({
      targetInstanceId: 'a',
      subscriptions: [],
      sourceInstanceId: 'b',
      assignedAt: at(0),
      epoch: MAX_EPOCH,
      revision: 3,
    })
    expect(message.toDict()).toMatchObject({ epoch: '18446744073709551615', revision: 3 })
    expect(WorkAssignment.fromDict(JSON.parse(JSON.stringify(message.toDict()))).epoch).toBe(MAX_EPOCH)
  })

  it('has the keys of the reference in its order, and our additions only when they are set', () => {
    expect(Object.keys(WorkAssignment.fromDict(assignment).toDict())).toEqual([
      'target_instance_id',
      'subscriptions',
      'source_instance_id',
      'assigned_at',
      'priority',
    ])
  })

  it.each([7, null, '', '-1', '1.5', '007', '0x7', ' 7', '18446744073709551616', '9'.repeat(100)])(
    'refuses an epoch like case %#',
    (epoch) => {
      expect(paths(() => WorkAssignment.fromDict({ ...assignment, epoch }))).toEqual(['epoch'])
    },
  )

  it('refuses a negative or fractional revision and a fractional priority', () => {
    expect(paths(() => WorkAssignment.fromDict({ ...assignment, priority: 0.5, revision: -1 }))).toEqual(['priority', 'revision'])
    expect(WorkAssignment.fromDict({ ...assignment, priority: -1 }).priority).toBe(-1)
  })
})
