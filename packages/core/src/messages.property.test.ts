import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidMessageError } from './errors.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { MAX_EPOCH } from './message-schema.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { WorkAssignment } from './work-assignment.js'

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty'),
)
const instant = fc.date({ min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999), noInvalidDate: true })
const count = fc.oneof(fc.maxSafeNat(), fc.constant(-0))
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

const heartbeats = fc
  .record({
    instanceId: name,
    timestamp: instant,
    subscriptions: fc.array(name),
    inFlightCount: count,
    isLeader: fc.boolean(),
    loadFactor: fc.double({ min: 0, max: 1, noNaN: true }),
    incarnation: optional(name),
    sequence: optional(count),
  })
  .map((props) => new HeartbeatMessage(props))

const notifications = fc
  .record({
    instanceId: name,
    intent: fc.constantFrom(...Object.values(ShutdownIntent)),
    initiatedAt: instant,
    expectedCompletionAt: instant,
    subscriptions: fc.array(name),
    inFlightCount: count,
    metadata: fc.dictionary(name, fc.jsonValue({ maxDepth: 4 })),
    incarnation: optional(name),
    sequence: optional(count),
  })
  .map((props) => new ShutdownNotification(props))

const assignments = fc
  .record({
    targetInstanceId: name,
    subscriptions: fc.array(name),
    sourceInstanceId: name,
    assignedAt: instant,
    priority: fc.maxSafeInteger(),
    epoch: optional(fc.bigInt({ min: 0n, max: MAX_EPOCH })),
    revision: optional(count),
  })
  .map((props) => new WorkAssignment(props))

const KEYS = [
  ...['instance_id', 'timestamp', 'subscriptions', 'in_flight_count', 'is_leader', 'load_factor', 'incarnation', 'sequence', 'intent'],
  ...[
    'initiated_at',
    'expected_completion_at',
    'metadata',
    'target_instance_id',
    'source_instance_id',
    'assigned_at',
    'priority',
    'epoch',
    'revision',
  ],
]

/** Nearly a message: the right keys, with values that are right or not. */
const nearlyMessages = fc.dictionary(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...KEYS) }, { weight: 1, arbitrary: name }),
  fc.oneof(fc.jsonValue(), fc.constantFrom('2026-03-01T12:00:00Z', 'graceful', 'w', 0, 1, ['s'], {}, '7')),
  { minKeys: 4, maxKeys: 20 },
)

function prototypes(): string {
  return JSON.stringify(
    [Object.prototype, Array.prototype, String.prototype, Function.prototype].map((prototype) => Reflect.ownKeys(prototype).length),
  )
}

describe('messages', () => {
  it('come back equal from JSON text', () => {
    fc.assert(
      fc.property(fc.oneof(heartbeats, notifications, assignments), (message) => {
        const { fromDict } = message.constructor as unknown as { fromDict(dict: unknown): unknown }
        // Not expect().toStrictEqual(): that asks metadata with a key `constructor` for its class.
        return isDeepStrictEqual(fromDict(JSON.parse(JSON.stringify(message.toDict()))), message)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([HeartbeatMessage, ShutdownNotification, WorkAssignment])(
    'read from any JSON throw nothing but InvalidMessageError: %o',
    (Type) => {
      const before = prototypes()
      const emptyObject: Record<string, unknown> = {}
      fc.assert(
        fc.property(fc.oneof(fc.jsonValue(), nearlyMessages), (json) => {
          try {
            Type.fromDict(JSON.parse(JSON.stringify(json)))
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidMessageError)
            expect((error as Error).message.length).toBeLessThan(4000)
          }
          expect(emptyObject.is_leader).toBeUndefined()
        }),
        { numRuns: 1000 },
      )
      expect(prototypes()).toBe(before)
    },
  )
})
