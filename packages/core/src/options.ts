import { type Clock, systemClock } from './clock.js'
import { CoordinationError } from './errors.js'
import { consoleLogger, type Logger, safeLogger } from './logger.js'

/** Bounds of an option that is a number. */
export interface Bounds {
  /** The value must be larger than this. */
  readonly above?: number
  /** The value must not be smaller than this. */
  readonly atLeast?: number
  /** The value must not be larger than this. */
  readonly atMost?: number
}

/**
 * The error for an option that is off; its `code` is `invalid_options`.
 *
 * @param rule ends the sentence "`name` must be …"; where two options are at odds it names the other one and its value.
 */
export function invalidOption(name: string, value: unknown, rule: string): CoordinationError {
  return new CoordinationError('invalid_options', `${name} must be ${rule}, got ${describeValue(value)}`)
}

/**
 * Checks an option that is a duration and returns it. Without a lower bound it must be above 0.
 *
 * @throws CoordinationError `invalid_options` unless `value` is a finite number within `bounds`.
 */
export function requireSeconds(name: string, value: unknown, bounds: Bounds = {}): number {
  const { above, atLeast } = bounds
  const effective = above === undefined && atLeast === undefined ? { ...bounds, above: 0 } : bounds
  if (typeof value === 'number' && Number.isFinite(value) && isWithin(value, effective)) return value
  throw invalidOption(name, value, `a finite number of seconds${describeBounds(effective)}`)
}

/**
 * Checks an option that is a whole number and returns it. Without a lower bound it must not be negative.
 *
 * @throws CoordinationError `invalid_options` unless `value` is a safe integer within `bounds`.
 */
export function requireInteger(name: string, value: unknown, bounds: Bounds = {}): number {
  const { above, atLeast } = bounds
  const effective = above === undefined && atLeast === undefined ? { ...bounds, atLeast: 0 } : bounds
  if (typeof value === 'number' && Number.isSafeInteger(value) && isWithin(value, effective)) return value
  throw invalidOption(name, value, `a whole number${describeBounds(effective)}`)
}

/**
 * Checks how two options that are each valid stand to each other.
 *
 * @throws CoordinationError `invalid_options`, naming both options and both values, unless `lesser` is below `greater`, or equal to it
 * where `orEqual` is set.
 */
export function requireOrder(
  lesser: { readonly name: string; readonly value: number },
  greater: { readonly name: string; readonly value: number },
  { orEqual = false }: { readonly orEqual?: boolean } = {},
): void {
  if (lesser.value < greater.value || (orEqual && lesser.value === greater.value)) return
  throw invalidOption(lesser.name, lesser.value, `${orEqual ? 'at most' : 'below'} ${greater.name}, which is ${greater.value}`)
}

/**
 * Checks an option that names something (an instance, an election) and returns it. Such names travel in messages, so the rule is theirs:
 * 1 to 1,024 UTF-16 units of well-formed Unicode.
 *
 * @throws CoordinationError `invalid_options` unless `value` is such a name.
 */
export function requireName(name: string, value: unknown): string {
  if (isName(value)) return value
  throw invalidOption(name, value, NAME_RULE)
}

/**
 * Checks that options were given as an object, and returns it.
 *
 * @throws CoordinationError `invalid_options` otherwise, also for none at all.
 */
export function requireOptions<Options extends object>(options: Options): Options {
  if (typeof options === 'object' && options !== null) return options
  throw invalidOption('options', options, 'an object')
}

/**
 * Checks an option that is a function and returns it.
 *
 * @throws CoordinationError `invalid_options` unless `value` is a function.
 */
export function requireFunction<Value>(name: string, value: Value): Value {
  if (typeof value === 'function') return value
  throw invalidOption(name, value, 'a function')
}

/**
 * Checks an option that is an object of the user's by its methods, and returns it.
 *
 * @throws CoordinationError `invalid_options` naming the `methods` that it lacks.
 */
export function requireMethods<Value>(name: string, value: Value, methods: readonly string[]): Value {
  const members = value as Readonly<Record<string, unknown>> | null | undefined
  const missing = methods.filter((method) => typeof members?.[method] !== 'function')
  if (missing.length === 0) return value
  throw lacksMembers(name, value, `an object with the methods ${methods.join(', ')}`, missing)
}

/** The error for an option that is an object of the user's, and lacks members: names them, or says what was given instead of an object. */
export function lacksMembers(name: string, value: unknown, rule: string, missing: readonly string[]): CoordinationError {
  if (typeof value !== 'object' || value === null) return invalidOption(name, value, rule)
  return new CoordinationError('invalid_options', `${name} must be ${rule}; it lacks ${missing.join(', ')}`)
}

/** The clock of an option, or the system's. @throws CoordinationError `invalid_options` when it is none. */
export function requireClock(clock: Clock = systemClock): Clock {
  return requireMethods('clock', clock, ['now', 'monotonicSeconds', 'setTimer'])
}

/** The logger of an option, or the console's, as one that never throws. @throws CoordinationError `invalid_options` when it is none. */
export function requireLogger(logger: Logger = consoleLogger): Logger {
  return safeLogger(requireMethods('logger', logger, ['debug', 'info', 'warn', 'error']))
}

/** Longest instance id, incarnation or subscription name, in UTF-16 units. */
export const MAX_NAME_LENGTH = 1024

/** What {@link isName} asks for, for messages. */
export const NAME_RULE = `non-empty, well-formed text of at most ${MAX_NAME_LENGTH} characters`

/** Whether `value` can name an instance, an incarnation or a subscription. */
export function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_NAME_LENGTH) return false
  // A lone surrogate has no UTF-8: two such names would become one name on their way to a database. The method is in every supported Node;
  // TypeScript files it under ES2024.
  return (value as string & { isWellFormed(): boolean }).isWellFormed()
}

function isWithin(value: number, { above, atLeast, atMost }: Bounds): boolean {
  return (above === undefined || value > above) && (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost)
}

function describeBounds({ above, atLeast, atMost }: Bounds): string {
  const bounds: string[] = []
  if (above !== undefined) bounds.push(`above ${above}`)
  if (atLeast !== undefined) bounds.push(`of at least ${atLeast}`)
  if (atMost !== undefined) bounds.push(`of at most ${atMost}`)
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`
}

/** A value for an error message: numbers as they are, text quoted and cut, anything else by its type. A URL is not shown: it may hold a password. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string' && /^\s*[\w+]+:\/\//.test(value)) return 'a URL'
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
