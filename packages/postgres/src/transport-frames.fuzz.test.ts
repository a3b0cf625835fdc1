import { CoordinationError } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzing } from './fuzz.test.harness.js'
import { RecordingLogger } from './recording-logger.test.harness.js'
import { type Registration, TransportDispatch } from './transport-dispatch.js'
import { type AssemblyLimits, encodeMessage, FrameAssembler, MAX_PAYLOAD_BYTES, splitIntoFrames } from './transport-frames.js'

const LIMITS: AssemblyLimits = { maxMessageBytes: 40_000, maxPartialMessages: 4, maxPartialBytes: 60_000, maxAgeSeconds: 30 }

const textOf = (sender: number, length: number): string => `{"sender":${sender},"text":"${'x'.repeat(length)}"}`

/** Genuine messages of several senders, each under an id of its own, and the frames they travel in. */
const SENT = [8000, 9000, 16_000, 24_500, 31_000, 39_000].map((length, sender) => {
  const text = textOf(sender, length)
  return { text, frames: splitIntoFrames(text, `sender-${sender}`) }
})
const FRAMES = SENT.flatMap(({ frames }) => frames)
const TEXTS = new Set(SENT.map(({ text }) => text))

const header = fc
  .tuple(
    fc.oneof(fc.constantFrom('', 'x', 'forged', '__proto__', 'x'.repeat(41), 'ü', 'a;b'), fc.nat(40).map(String)),
    fc.oneof(fc.nat(12), fc.constantFrom(-1, 0.5, 999_999, 1_000_000, 2 ** 53)),
    fc.oneof(fc.nat(14), fc.constantFrom(-1, 0, 1, 264, 999_999, 1_000_000)),
  )
  .map(([id, index, count]) => `es1;${id};${index};${count};`)
const body = fc.oneof(
  fc.constantFrom('', '{}', '"', '\0', '\ud800', 'es1;', 'ü'.repeat(4000)),
  fc.nat(MAX_PAYLOAD_BYTES).map((length) => 'z'.repeat(length)),
)
/** Frames that nobody sent, never under the id of a genuine message. */
const forged = fc.oneof(
  fc.tuple(header, body).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'es1', 'es1;', 'es1;;;;', 'es2;x;0;2;{', '{}', 'null', '[[[', '{"a":1'),
)
/** Frames of one more message, each with a bit flipped in its header. Its id is like no other, or a flip might make it another's. */
const damaged = fc
  .record({ frame: fc.constantFrom(...splitIntoFrames(`{"damaged":"${'x'.repeat(20_000)}"}`, 'AAAAAAAA')), at: fc.nat(18), bit: fc.nat(7) })
  .map(({ frame, at, bit }) => frame.slice(0, at) + String.fromCharCode(frame.charCodeAt(at) ^ (1 << bit)) + frame.slice(at + 1))

type Step = { readonly payload: string } | { readonly passSeconds: number } | { readonly whole: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...FRAMES).map((payload) => ({ payload })) },
  { weight: 4, arbitrary: forged.map((payload) => ({ payload })) },
  { weight: 1, arbitrary: damaged.map((payload) => ({ payload })) },
  { weight: 1, arbitrary: fc.nat(SENT.length - 1).map((whole) => ({ whole })) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 29, 31).map((passSeconds) => ({ passSeconds })) },
)

describe('frames, whatever arrives in whatever order,', () => {
  it('come to messages that were sent, within the bounds, 12,000 times', () => {
    let assembled = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        const assembler = new FrameAssembler(LIMITS)
        let now = 0
        const take = (payload: string): void => {
          const assembly = assembler.accept('c', payload, now)
          const { messages, bytes } = assembler.kept
          expect(messages <= LIMITS.maxPartialMessages && bytes >= 0 && bytes <= LIMITS.maxPartialBytes).toBe(true)
          if (assembly.type !== 'message' || assembly.text === payload) return
          expect(assembly.text.length).toBeLessThanOrEqual(LIMITS.maxMessageBytes)
          // Of a damaged id anything may come, but never a genuine message that is not what was sent.
          if (assembly.text.startsWith('{"sender":')) {
            expect(TEXTS.has(assembly.text)).toBe(true)
            assembled++
          }
        }
        for (const one of steps) {
          if ('passSeconds' in one) now += one.passSeconds
          else if ('payload' in one) take(one.payload)
          else for (const frame of SENT[one.whole]?.frames ?? []) take(frame)
        }
        // Once what was left behind is too old, everything is as new.
        now += LIMITS.maxAgeSeconds
        assembler.expire(now)
        expect(assembler.kept).toEqual({ messages: 0, bytes: 0 })
        const { frames, text } = SENT[3] as (typeof SENT)[number]
        expect(frames.map((frame) => assembler.accept('c', frame, now)).at(-1)).toEqual({ type: 'message', text })
      }),
      fuzzing(12_000),
    )
    expect(assembled).toBeGreaterThan(1000)
  }, 180_000)

  it('are what any object is split into and comes together from, in any order, or one documented error, 4,000 times', () => {
    const anything = fc.oneof(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
      fc.record({ text: fc.nat(30_000).map((length) => 'é\ud800"'.repeat(length / 10)) }),
      fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, maxDepth: 2 }),
      fc.constantFrom<unknown>(circular(), { toJSON: () => 1 }, { toJSON: () => fail() }, { big: 1n }, Symbol('s'), undefined),
    )
    let refused = 0
    fc.assert(
      fc.property(anything, fc.array(fc.nat(20), { maxLength: 20 }), (message, order) => {
        let text: string
        try {
          text = encodeMessage(message as never)
        } catch (error) {
          refused++
          expect(error).toBeInstanceOf(CoordinationError)
          expect((error as CoordinationError).code).toBe('message_not_json')
          expect((error as Error).message.length).toBeLessThan(500)
          return
        }
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
        expect(text).toMatch(/^\{[\x00-\x7e]*\}$/)
        const frames = splitIntoFrames(text, 'id')
        for (const frame of frames) expect(frame.length).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES)
        const assembler = new FrameAssembler({ ...LIMITS, maxMessageBytes: 1_000_000, maxPartialBytes: 1_000_000 })
        const shuffled = [...frames]
        order.forEach((other, index) => {
          const [a, b] = [index % frames.length, other % frames.length]
          ;[shuffled[a], shuffled[b]] = [shuffled[b] as string, shuffled[a] as string]
        })
        expect(shuffled.map((frame) => assembler.accept('c', frame, 0)).at(-1)).toEqual({ type: 'message', text })
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(message)))
      }),
      fuzzing(4000),
    )
    expect(refused).toBeGreaterThan(100)
  }, 180_000)
})

describe('what is handed out, whatever arrives and whatever the handlers do,', () => {
  it('is what was JSON, the rest is counted, and a few lines are logged, 3,000 times', () => {
    const payload = fc.oneof(
      fc.constantFrom(...FRAMES),
      forged,
      fc.jsonValue().map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(payload, fc.nat(3)), { minLength: 1, maxLength: 40 }), (arrivals) => {
        const logger = new RecordingLogger()
        const dispatch = new TransportDispatch({ clock: new ManualClock(), logger, fields: {}, maxMessageBytes: LIMITS.maxMessageBytes })
        const heard: unknown[] = []
        let mood = 0
        const registration: Registration = {
          topic: 't',
          state: 'active',
          handler: (message) => {
            heard.push(message)
            if (mood === 1) fail()
            if (mood === 2) return Promise.reject(new Error(`rejected ${heard.length}`)) as never
          },
        }
        dispatch.add('c', registration)
        let failures = 0
        for (const [text, next] of arrivals) {
          mood = next
          const before = heard.length
          dispatch.deliver('c', text)
          dispatch.deliver('somewhere else', text)
          if (mood === 1) failures += heard.length - before
        }
        const { received, malformed, handlerFailures } = dispatch.counts
        expect(received).toBe(heard.length)
        expect(received + malformed).toBeLessThanOrEqual(arrivals.length)
        expect(handlerFailures).toBe(failures)
        expect(logger.lines.length).toBeLessThanOrEqual(2)
      }),
      fuzzing(3000),
    )
  }, 180_000)
})

function circular(): unknown {
  const loop: Record<string, unknown> = {}
  loop['long'.repeat(1000)] = { loop }
  return loop
}

function fail(): never {
  throw new Error('x'.repeat(10_000))
}
