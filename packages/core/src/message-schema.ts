import { z } from 'zod'
import { InvalidMessageError, type MessageIssue } from './errors.js'
import { isInstant, parseInstant } from './instant.js'
import { copyJsonObject, type JsonObject, MAX_METADATA_DEPTH, MAX_METADATA_SIZE } from './json-value.js'
import { isName, NAME_RULE } from './options.js'

/** Most subscriptions in one message, repeated ones included. */
export const MAX_SUBSCRIPTIONS = 10_000
/** Largest epoch: an unsigned 64-bit number, as Postgres counts transactions. */
export const MAX_EPOCH = 2n ** 64n - 1n

const REPORTED_NAMES = 3
const FEW_NAMES = 40

const EMPTY_LIST: readonly string[] = Object.freeze([])
const EMPTY_METADATA: JsonObject = Object.freeze({})

/** The fields that messages are made of, one check each, so that a message says all that is wrong with it in one line a field. */
export const field = {
  name: z.custom<string>(isName, { error: NAME_RULE }),
  instant: z.custom<Date>(isInstant, {
    error: 'an instant in the years 1 to 9999, as a Date here and as text like 2026-03-01T12:00:00.000+00:00 (with an offset) on the wire',
  }),
  count: z.custom<number>(isCount, { error: 'a whole number from 0 to 9007199254740991' }),
  integer: z.custom<number>(Number.isSafeInteger, { error: 'a whole number' }),
  fraction: z.custom<number>(isFraction, { error: 'a number from 0 to 1' }),
  weight: z.custom<number>((value) => typeof value === 'number' && Number.isFinite(value) && value >= 0, {
    error: 'a finite number of at least 0',
  }),
  flag: z.custom<boolean>((value) => typeof value === 'boolean', { error: 'true or false' }),
  epoch: z.custom<bigint>((value) => typeof value === 'bigint' && value >= 0n && value <= MAX_EPOCH, {
    error: `a whole number from 0 to ${MAX_EPOCH}, as a bigint here and as decimal text on the wire`,
  }),
  /** Frozen, in the order given, each name once. */
  requiredSubscriptions: z.transform(readSubscriptions),
  subscriptions: z.transform((value: unknown, context: z.core.$RefinementCtx) =>
    value === undefined ? EMPTY_LIST : readSubscriptions(value, context),
  ),
  metadata: z.transform((value: unknown, context: z.core.$RefinementCtx): JsonObject => {
    if (value === undefined) return EMPTY_METADATA
    const copy = copyJsonObject(value)
    if (copy) return copy
    report(context, `a JSON object of at most ${MAX_METADATA_SIZE} characters and ${MAX_METADATA_DEPTH} levels, with finite numbers`)
    return EMPTY_METADATA
  }),
} as const

/**
 * Checks the properties of a message.
 *
 * @throws InvalidMessageError with the property names as paths.
 */
export function checkMessage<Output>(messageType: string, schema: z.ZodType<Output>, properties: unknown): Output {
  const result = schema.safeParse(properties)
  if (result.success) return result.data
  throw new InvalidMessageError(
    messageType,
    result.error.issues.map(({ path, message }) => ({ path: formatPath(path), expected: message })),
  )
}

/**
 * Runs `read` on `dict`, a message as it came off the wire.
 *
 * @param keys the key on the wire of each property, for the paths of the error.
 * @throws InvalidMessageError with the keys on the wire as paths.
 */
export function readMessage<Message>(
  messageType: string,
  keys: Readonly<Record<string, string>>,
  dict: unknown,
  read: (wire: Readonly<Record<string, unknown>>) => Message,
): Message {
  if (dict === null || typeof dict !== 'object' || Array.isArray(dict)) {
    throw new InvalidMessageError(messageType, [{ path: '', expected: 'a JSON object' }])
  }
  try {
    return read(dict as Record<string, unknown>)
  } catch (error) {
    if (error instanceof InvalidMessageError)
      throw new InvalidMessageError(
        messageType,
        error.issues.map((issue) => onTheWire(issue, keys)),
      )
    throw error
  }
}

/** The instant on the wire; what is none becomes a value that {@link field} refuses. */
export function readInstant(value: unknown): Date | null {
  return typeof value === 'string' ? parseInstant(value) : null
}

/** The epoch on the wire: `undefined` when absent; what is none becomes a value that {@link field} refuses. */
export function readEpoch(value: unknown): bigint | null | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(value) ? BigInt(value) : null
}

function readSubscriptions(value: unknown, context: z.core.$RefinementCtx): readonly string[] {
  if (!Array.isArray(value) || value.length > MAX_SUBSCRIPTIONS) {
    report(context, `a list of at most ${MAX_SUBSCRIPTIONS} subscription names`)
    return EMPTY_LIST
  }
  if (value.length === 0) return EMPTY_LIST
  let faults = 0
  for (let index = 0; index < value.length; index++) {
    if (isName(value[index])) continue
    report(context, NAME_RULE, [index])
    // Thousands of faults tell no more than the first few, and would leave no room for those of other fields.
    if (++faults === REPORTED_NAMES) break
  }
  if (faults > 0) return EMPTY_LIST
  return Object.freeze(areDistinct(value) ? value.slice() : [...new Set(value as readonly string[])])
}

function areDistinct(names: readonly string[]): boolean {
  // Of a few, comparing each with all others takes a third of the time that a set does.
  if (names.length <= FEW_NAMES) return names.every((name, index) => names.indexOf(name, index + 1) < 0)
  return new Set(names).size === names.length
}

function report(context: z.core.$RefinementCtx, expected: string, path: PropertyKey[] = []): void {
  context.addIssue({ code: 'custom', message: expected, path })
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : `${index === 0 ? '' : '.'}${String(segment)}`))
    .join('')
}

function onTheWire({ path, expected }: MessageIssue, keys: Readonly<Record<string, string>>): MessageIssue {
  const property = /^\w+/.exec(path)?.[0] ?? ''
  return { path: (keys[property] ?? property) + path.slice(property.length), expected }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}
