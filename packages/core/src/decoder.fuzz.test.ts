import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CoordinationMessage, MAX_MESSAGE_TEXT_LENGTH, MessageDecoder } from './decoder.js'
import { InvalidMessageError, MAX_REPORTED_ISSUES } from './errors.js'
import { deepFreeze, fuzzing, nearlyDict, nearlyText, prototypes, validDicts } from './fuzz.test.harness.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { RecordingLogger } from './manual-clock.test.harness.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
import { WorkAssignment } from './work-assignment.js'

const TOPICS = [HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC]
const TYPES = [HeartbeatMessage, ShutdownNotification, WorkAssignment] as const
// Ten issues of a path and a sentence each.
const LONGEST_ERROR = 2000
// Three topics with four faults each, and all unknown topics together.
const MOST_KINDS = 13

const anyTopic = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...TOPICS) }, { weight: 1, arbitrary: fc.string({ maxLength: 200 }) })
const nearly = fc.oneof(...Object.values(validDicts).map(nearlyDict))
/** Nearly each kind of message, on its own topic. */
const onTopic = <T>(make: (dict: fc.Arbitrary<Record<string, unknown>>) => fc.Arbitrary<T>): fc.Arbitrary<[string, T]> =>
  fc.oneof(
    ...(
      [
        [HEARTBEAT_TOPIC, validDicts.heartbeat],
        [SHUTDOWN_NOTIFICATIONS_TOPIC, validDicts.shutdown],
        [WORK_ASSIGNMENT_TOPIC, validDicts.assignment],
      ] as const
    ).map(([topic, valid]) => fc.tuple(fc.constant(topic), make(nearlyDict(valid)))),
  )

const VALID = JSON.stringify({ instance_id: 'w', timestamp: '2026-03-01T12:00:00Z' })

/** One decoder for all inputs, as in an instance; what holds after each of them. */
function decodeAll(input: fc.Arbitrary<[string, unknown]>, runs: number): MessageDecoder {
  const logger = new RecordingLogger()
  const decoder = new MessageDecoder({ logger })
  const before = prototypes()
  let dropped = 0
  fc.assert(
    fc.property(input, ([name, payload]) => {
      const message: CoordinationMessage | null = decoder.decode(name, deepFreeze(payload))
      if (message === null) dropped++
      else {
        const { fromDict } = message.constructor as unknown as { fromDict(dict: unknown): unknown }
        expect(isDeepStrictEqual(fromDict(JSON.parse(JSON.stringify(message.toDict()))), message)).toBe(true)
      }
      expect(decoder.droppedCount).toBe(dropped)
      expect(decoder.decode(HEARTBEAT_TOPIC, VALID)).toBeInstanceOf(HeartbeatMessage)
    }),
    fuzzing(runs),
  )
  expect(prototypes()).toBe(before)
  expect(logger.lines.length).toBe(decoder.dropped.length)
  expect(decoder.dropped.length).toBeLessThanOrEqual(MOST_KINDS)
  for (const { fields, message } of logger.lines) expect(JSON.stringify({ ...fields, message }).length).toBeLessThan(LONGEST_ERROR)
  return decoder
}

const faults = (decoder: MessageDecoder): Set<string> => new Set(decoder.dropped.map(({ fault }) => fault))

describe('the decoder, given anything', () => {
  it('reads a text or drops it, 20,000 times', () => {
    const anyText = fc.tuple(anyTopic, fc.oneof(nearlyText(nearly), fc.string({ unit: 'binary' })))
    const decoder = decodeAll(fc.oneof({ weight: 6, arbitrary: onTopic(nearlyText) }, { weight: 1, arbitrary: anyText }), 20_000)
    expect([...faults(decoder)].sort()).toEqual(['invalid_message', 'not_json', 'unknown_topic'])
  }, 180_000)

  it('reads what was parsed or drops it, 30,000 times', () => {
    const anyValue = fc.tuple(anyTopic, fc.oneof(nearly, fc.jsonValue()))
    const decoder = decodeAll(fc.oneof({ weight: 6, arbitrary: onTopic((dict) => dict) }, { weight: 1, arbitrary: anyValue }), 30_000)
    expect([...faults(decoder)].sort()).toEqual(['invalid_message', 'not_json', 'unknown_topic'])
  }, 180_000)
})

describe('fromDict, given anything', () => {
  it('throws nothing but InvalidMessageError, and that is short, 3 times 5,000 times', () => {
    const before = prototypes()
    const anything = fc.oneof(
      nearly,
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
    )
    for (const Type of TYPES) {
      fc.assert(
        fc.property(anything, (input) => {
          try {
            expect(Type.fromDict(deepFreeze(input))).toBeInstanceOf(Type)
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidMessageError)
            const { code, message, issues } = error as InvalidMessageError
            expect(code).toBe('invalid_message')
            expect(message.length).toBeLessThan(LONGEST_ERROR)
            expect(issues.length).toBeLessThanOrEqual(MAX_REPORTED_ISSUES)
          }
        }),
        fuzzing(5000),
      )
    }
    expect(prototypes()).toBe(before)
  }, 180_000)
})

describe('the work for one message', () => {
  /** A list that counts how often something of it is looked at. */
  function counted(length: number, name: (index: number) => unknown) {
    let reads = 0
    const list = new Proxy(Object.assign([], { length }), {
      get(target, key) {
        reads++
        return typeof key === 'string' && /^\d+$/.test(key) ? name(Number(key)) : Reflect.get(target, key)
      },
    })
    return { list, reads: () => reads }
  }

  it('does not grow with a list that is too long, or that is all wrong', () => {
    const tooLong = counted(1_000_000, (index) => `s${index}`)
    const allWrong = counted(10_000, () => '')
    for (const [key, { list, reads }] of [
      ['subscriptions', tooLong],
      ['declined', allWrong],
    ] as const) {
      expect(() => HeartbeatMessage.fromDict({ instance_id: 'w', timestamp: '2026-03-01T12:00:00Z', [key]: list })).toThrow(
        InvalidMessageError,
      )
      expect(reads()).toBeLessThan(20)
    }
  })

  it('does not grow with metadata beyond its limit', () => {
    const { list, reads } = counted(1_000_000, () => 'x')
    const notification = {
      instance_id: 'w',
      intent: 'graceful',
      initiated_at: '2026-03-01T12:00:00Z',
      expected_completion_at: '2026-03-01T12:00:00Z',
    }
    expect(() => ShutdownNotification.fromDict({ ...notification, metadata: { list } })).toThrow(InvalidMessageError)
    expect(reads()).toBeLessThan(100_000)
  })

  it('does not grow with a text that is too long: it is not even parsed', () => {
    const decoder = new MessageDecoder({ logger: new RecordingLogger() })
    const { parse } = JSON
    let parsed = 0
    JSON.parse = (text: string) => {
      parsed++
      return parse(text)
    }
    try {
      expect(decoder.decode(HEARTBEAT_TOPIC, '['.repeat(MAX_MESSAGE_TEXT_LENGTH + 1))).toBeNull()
      expect(parsed).toBe(0)
      expect(decoder.decode(HEARTBEAT_TOPIC, VALID)).not.toBeNull()
      expect(parsed).toBe(1)
    } finally {
      JSON.parse = parse
    }
  })
})
