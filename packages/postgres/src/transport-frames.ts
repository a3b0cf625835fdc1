import { CoordinationError, errorMessage } from '@es/coordination-core'

/** Longest payload of a notification: the server refuses 8,000 bytes. */
export const MAX_PAYLOAD_BYTES = 7999

const LONGEST_REASON = 300

// WIRE FORMAT. A payload is either the JSON text of a whole message, or one of several frames of it: `es1;id;index;count;` and a piece of that text.
// No JSON text begins with a letter `e`, so the two are told apart by their first character.
const FRAME = /^es1;([\w-]{1,40});(\d{1,6});(\d{1,6});/

/**
 * `message` as JSON text in pure ASCII: one character is one byte, whatever the encoding of the database, and no character can be cut in two.
 *
 * @throws CoordinationError `message_not_json` unless `message` is an object that JSON can hold.
 */
export function encodeMessage(message: Readonly<Record<string, unknown>>): string {
  let text: string | undefined
  let cause: unknown
  try {
    text = JSON.stringify(message)
  } catch (error) {
    cause = error
  }
  if (!text?.startsWith('{')) {
    // The text may quote the message, keys of any length included.
    const why = cause === undefined ? '' : `: ${errorMessage(cause).slice(0, LONGEST_REASON)}`
    throw new CoordinationError('message_not_json', `A message must be an object that JSON can hold${why}`, { cause })
  }
  return text.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * The payloads that carry `text`: itself where it fits into one.
 *
 * @param text as {@link encodeMessage} makes it.
 * @param id unique among all messages of all senders: `[A-Za-z0-9_-]`, at most 40 characters.
 */
export function splitIntoFrames(text: string, id: string): readonly string[] {
  if (text.length <= MAX_PAYLOAD_BYTES) return [text]
  // The same for all frames: the longest header there can be.
  const room = MAX_PAYLOAD_BYTES - `es1;${id};999999;999999;`.length
  const count = Math.ceil(text.length / room)
  return Array.from({ length: count }, (_, index) => `es1;${id};${index};${count};${text.slice(index * room, (index + 1) * room)}`)
}

/** Bounds of what a {@link FrameAssembler} keeps. */
export interface AssemblyLimits {
  /** Longest message, in bytes of its text. */
  readonly maxMessageBytes: number
  /** Most messages of which some frames are missing. */
  readonly maxPartialMessages: number
  /** Most bytes of them all. */
  readonly maxPartialBytes: number
  /** How long a frame is waited for after the first of its message, in seconds. */
  readonly maxAgeSeconds: number
}

/** What a payload came to. `incomplete`: more frames are missing. `malformed`: it is no frame that {@link splitIntoFrames} makes within the limits. */
export type Assembly =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'incomplete' }
  | { readonly type: 'malformed' }

interface Partial {
  readonly count: number
  readonly startedAt: number
  readonly pieces: Map<number, string>
  bytes: number
}

const INCOMPLETE: Assembly = { type: 'incomplete' }
const MALFORMED: Assembly = { type: 'malformed' }

/**
 * Puts messages together from their frames, in whatever order, however often and from however many senders they come. A message of which a frame is
 * lost never appears; nor does one that is made of frames of two messages. Memory is bounded whatever arrives: the oldest partial message
 * gives way. Pure: time comes in.
 */
export class FrameAssembler {
  readonly #limits: AssemblyLimits
  /** In the order in which they began. */
  readonly #partials = new Map<string, Partial>()
  #bytes = 0
  #abandoned = 0

  constructor(limits: AssemblyLimits) {
    this.#limits = limits
  }

  /** How many messages were given up because a frame was missing for too long, or for want of room. */
  get abandonedCount(): number {
    return this.#abandoned
  }

  /** What is kept at the moment. */
  get kept(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#partials.size, bytes: this.#bytes }
  }

  /** @param now seconds on any clock that does not go back. */
  accept(channel: string, payload: string, now: number): Assembly {
    this.expire(now)
    if (!payload.startsWith('es1;')) return { type: 'message', text: payload }
    const header = FRAME.exec(payload)
    if (header === null) return MALFORMED
    const [{ length }, id] = header
    const [index, count] = [Number(header[2]), Number(header[3])]
    const { maxMessageBytes } = this.#limits
    // Frames are full but for the last, so there cannot be more of them; half full is lenient enough.
    if (index >= count || count < 2 || count > Math.ceil(maxMessageBytes / (MAX_PAYLOAD_BYTES / 2)) + 1) return MALFORMED
    return this.#add(`${channel};${id}`, { index, count, piece: payload.slice(length), now })
  }

  /** Gives up what is too old. Called by {@link accept} too. */
  expire(now: number): void {
    for (const [key, partial] of this.#partials) {
      if (now - partial.startedAt < this.#limits.maxAgeSeconds) return
      this.#abandon(key, partial)
    }
  }

  #add(key: string, { index, count, piece, now }: { index: number; count: number; piece: string; now: number }): Assembly {
    const partial = this.#partials.get(key) ?? { count, startedAt: now, pieces: new Map<number, string>(), bytes: 0 }
    if (partial.count !== count) return MALFORMED
    if (partial.pieces.has(index)) return INCOMPLETE
    this.#partials.set(key, partial)
    partial.pieces.set(index, piece)
    partial.bytes += piece.length
    this.#bytes += piece.length
    if (partial.bytes > this.#limits.maxMessageBytes) {
      this.#abandon(key, partial)
      return MALFORMED
    }
    if (partial.pieces.size < count) {
      this.#makeRoom()
      return INCOMPLETE
    }
    this.#forget(key, partial)
    let text = ''
    for (let position = 0; position < count; position++) text += partial.pieces.get(position)
    return { type: 'message', text }
  }

  #makeRoom(): void {
    for (const [key, partial] of this.#partials) {
      if (this.#partials.size <= this.#limits.maxPartialMessages && this.#bytes <= this.#limits.maxPartialBytes) return
      this.#abandon(key, partial)
    }
  }

  #abandon(key: string, partial: Partial): void {
    this.#abandoned++
    this.#forget(key, partial)
  }

  #forget(key: string, partial: Partial): void {
    this.#partials.delete(key)
    this.#bytes -= partial.bytes
  }
}
