import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AssemblyLimits, encodeMessage, FrameAssembler, MAX_PAYLOAD_BYTES, splitIntoFrames } from './transport-frames.js'

const LIMITS: AssemblyLimits = { maxMessageBytes: 1_048_576, maxPartialMessages: 64, maxPartialBytes: 4_194_304, maxAgeSeconds: 30 }

function textOf(length: number): string {
  return `{"a":"${'x'.repeat(length - 8)}"}`
}

/** The texts that come out when `payloads` arrive. */
function receive(payloads: readonly string[], assembler = new FrameAssembler(LIMITS)): string[] {
  return payloads.flatMap((payload) => {
    const assembly = assembler.accept('c', payload, 0)
    return assembly.type === 'message' ? [assembly.text] : []
  })
}

const anyMessage = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
/** Messages of several frames, in any characters. */
const bigMessage = fc
  .record({ unit: fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }), times: fc.integer({ min: 1, max: 6000 }) })
  .map(({ unit, times }) => ({ text: unit.repeat(times) }))

describe('encodeMessage', () => {
  it('is JSON of the same value in pure ASCII, whatever the characters', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const text = encodeMessage(message)
        expect(text).toMatch(/^\{[ -~]*\}$/)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(message)))
      }),
    )
  })

  it('refuses what is not an object, and what JSON cannot hold', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const refused = [[], 'text', 7, null, undefined, cycle, { big: 1n }, { toJSON: () => 'x' }]
    for (const value of refused) expect(() => encodeMessage(value as never)).toThrow(expect.objectContaining({ code: 'message_not_json' }))
  })
})

describe('splitIntoFrames', () => {
  it('leaves a text of up to 7,999 bytes as it is, and never makes a payload of 8,000 (M7)', () => {
    expect(splitIntoFrames(textOf(7999), 'id')).toEqual([textOf(7999)])
    for (const length of [8000, 8001, 15_000, 16_000, 100_000, 1_048_576]) {
      const frames = splitIntoFrames(textOf(length), 'sender-1')
      expect(frames.length).toBe(Math.ceil(length / (7999 - 'es1;sender-1;999999;999999;'.length)))
      for (const frame of frames) expect(Buffer.byteLength(frame)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES)
      expect(receive(frames)).toEqual([textOf(length)])
    }
  })

  it('has a wire format that never changes', () => {
    const [first, second, ...more] = splitIntoFrames(textOf(8000), 'AbC_-9-12')
    expect(first?.slice(0, 30)).toBe('es1;AbC_-9-12;0;2;{"a":"xxxxxx')
    expect(second).toBe('es1;AbC_-9-12;1;2;xxxxxxxxxxxxxxxxxxxxxxxxxxx"}')
    expect(more).toEqual([])
  })
})

describe('FrameAssembler', () => {
  it('yields every message, and nothing else, however the frames of several senders interleave, repeat and change places', () => {
    fc.assert(
      fc.property(fc.array(bigMessage, { minLength: 1, maxLength: 4 }), fc.infiniteStream(fc.nat()), (messages, random) => {
        const texts = messages.map(encodeMessage)
        const frames = texts.flatMap((text, sender) => splitIntoFrames(text, `s${sender}`))
        // A repetition after the message is complete would begin it anew, so repetitions come before the last frame.
        const arriving = shuffle([...frames.filter((frame) => frame.startsWith('es1;')).slice(0, -1), ...frames], random)
        const received = receive(arriving)
        for (const text of received) expect(texts).toContain(text)
        for (const text of texts) expect(received).toContain(text)
      }),
      { numRuns: 60 },
    )
  })

  it('never yields a message of which a frame was lost', () => {
    fc.assert(
      fc.property(fc.array(bigMessage, { minLength: 2, maxLength: 4 }), fc.infiniteStream(fc.nat()), (messages, random) => {
        const texts = messages.map((message, index) => encodeMessage({ ...message, index, more: 'x'.repeat(8000) }))
        const frames = texts.map((text, sender) => splitIntoFrames(text, `s${sender}`))
        const [cutShort = [], ...whole] = frames
        const lost = (random.next().value ?? 0) % cutShort.length
        const arriving = shuffle([...cutShort.filter((_, index) => index !== lost), ...whole.flat()], random)
        expect(receive(arriving).toSorted()).toEqual(texts.slice(1).toSorted())
      }),
      { numRuns: 60 },
    )
  })

  it('keeps frames of the same id apart when they come on different channels or tell different counts', () => {
    const assembler = new FrameAssembler(LIMITS)
    expect(assembler.accept('c', 'es1;x;0;2;{"a":', 0).type).toBe('incomplete')
    expect(assembler.accept('d', 'es1;x;1;2;1}', 0).type).toBe('incomplete')
    expect(assembler.accept('c', 'es1;x;1;3;2}', 0).type).toBe('malformed')
    expect(assembler.accept('c', 'es1;x;1;2;3}', 0)).toEqual({ type: 'message', text: '{"a":3}' })
  })

  it('calls a header that no sender writes malformed, and keeps nothing of it', () => {
    const assembler = new FrameAssembler(LIMITS)
    const garbage = [
      'es1;',
      'es1;x',
      'es1;x;0;1;a',
      'es1;x;2;2;a',
      'es1;x;-1;2;a',
      'es1;x;0;999999;a',
      'es1;;0;2;a',
      `es1;${'x'.repeat(41)};0;2;a`,
      'es1;a b;0;2;a',
    ]
    for (const payload of garbage) expect(assembler.accept('c', payload, 0)).toEqual({ type: 'malformed' })
    expect(assembler.kept).toEqual({ messages: 0, bytes: 0 })
  })

  it('gives a message up when a frame has been missing for longer than the limit', () => {
    const assembler = new FrameAssembler(LIMITS)
    const [first = '', second = ''] = splitIntoFrames(textOf(9000), 'x')
    assembler.accept('c', first, 0)
    expect(assembler.accept('c', second, 29.9).type).toBe('message')
    assembler.accept('c', first, 100)
    assembler.expire(129.9)
    expect(assembler.kept.messages).toBe(1)
    assembler.expire(130)
    expect(assembler.kept).toEqual({ messages: 0, bytes: 0 })
    expect(assembler.accept('c', second, 130).type).toBe('incomplete')
    expect(assembler.abandonedCount).toBe(1)
  })

  it('refuses a message that grows beyond the limit', () => {
    const assembler = new FrameAssembler({ ...LIMITS, maxMessageBytes: 20_000 })
    const frames = splitIntoFrames(textOf(30_000), 'x')
    expect(frames.map((frame) => assembler.accept('c', frame, 0).type)).toEqual(['incomplete', 'incomplete', 'malformed', 'incomplete'])
    expect(assembler.kept.messages).toBe(1)
  })

  it('counts a repeated frame once', () => {
    const assembler = new FrameAssembler({ ...LIMITS, maxMessageBytes: 20_000 })
    const [first = '', second = ''] = splitIntoFrames(textOf(9000), 'x')
    for (let times = 0; times < 10; times++) expect(assembler.accept('c', first, 0).type).toBe('incomplete')
    expect(assembler.accept('c', second, 0)).toEqual({ type: 'message', text: textOf(9000) })
    expect(assembler.kept).toEqual({ messages: 0, bytes: 0 })
  })

  it('stays within its bounds under any garbage, and still reads what comes whole', () => {
    const limits = { ...LIMITS, maxPartialMessages: 5, maxPartialBytes: 20_000, maxMessageBytes: 16_000 }
    const garbage = fc.oneof(
      fc.string({ maxLength: 50 }),
      fc
        .record({ id: fc.nat(30), index: fc.nat(8), count: fc.nat(8), size: fc.nat(8000) })
        .map(({ id, index, count, size }) => `es1;${id};${index};${count};${'z'.repeat(size)}`),
    )
    fc.assert(
      fc.property(fc.array(garbage, { minLength: 100, maxLength: 200 }), (payloads) => {
        const assembler = new FrameAssembler(limits)
        for (const payload of payloads) {
          assembler.accept('c', payload, 0)
          expect(assembler.kept.messages).toBeLessThanOrEqual(5)
          expect(assembler.kept.bytes).toBeLessThanOrEqual(20_000)
        }
        expect(receive(splitIntoFrames(textOf(9000), 'good'), assembler)).toEqual([textOf(9000)])
      }),
    )
  })
})

function shuffle<T>(items: readonly T[], random: Iterator<number>): T[] {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = (random.next().value as number) % (index + 1)
    ;[shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T]
  }
  return shuffled
}
