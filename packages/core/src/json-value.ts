/** What JSON text can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/**
 * A JSON object. Any key may occur, `__proto__` included: it is an own key like the others, so copy such an object by spreading, not
 * assigning.
 */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Largest metadata, in characters of its JSON text (estimated; escapes are not counted). */
export const MAX_METADATA_SIZE = 65_536
/** Deepest nesting of metadata; the object itself is level 1. */
export const MAX_METADATA_DEPTH = 32

/** Thrown and caught in this file only. */
class NotJson extends Error {}

interface Budget {
  size: number
}

/**
 * A deep, deeply frozen copy of `value`. As in `JSON.stringify`, properties that are `undefined` are left out. Keys such as `__proto__`
 * become own keys of the copy and change no prototype (M4).
 *
 * @returns `null` unless `value` is a plain object that JSON can hold without loss, within {@link MAX_METADATA_SIZE} and
 * {@link MAX_METADATA_DEPTH}. A cycle is too deep.
 */
export function copyJsonObject(value: unknown): JsonObject | null {
  if (!isPlainObject(value)) return null
  try {
    return copyObject(value, 1, { size: 0 })
  } catch (error) {
    if (error instanceof NotJson) return null
    throw error
  }
}

function copyValue(value: unknown, depth: number, budget: Budget): JsonValue {
  switch (typeof value) {
    case 'string':
      spend(budget, value.length + 2)
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson()
      spend(budget, 8)
      // JSON has no negative zero.
      return value + 0
    case 'boolean':
      spend(budget, 5)
      return value
    case 'object':
      if (value === null) {
        spend(budget, 4)
        return null
      }
      if (Array.isArray(value)) return copyArray(value, depth, budget)
      if (isPlainObject(value)) return copyObject(value, depth, budget)
  }
  throw new NotJson()
}

function copyArray(values: readonly unknown[], depth: number, budget: Budget): JsonValue {
  enter(depth, budget)
  const copy: JsonValue[] = []
  for (let index = 0; index < values.length; index++) copy.push(copyValue(values[index], depth + 1, budget))
  return Object.freeze(copy)
}

function copyObject(source: Readonly<Record<string, unknown>>, depth: number, budget: Budget): JsonObject {
  enter(depth, budget)
  const copy: Record<string, JsonValue> = {}
  for (const key of Object.keys(source)) {
    const value = source[key]
    if (value === undefined) continue
    spend(budget, key.length + 4)
    const copied = copyValue(value, depth + 1, budget)
    // Plain assignment to `__proto__` would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: copied, enumerable: true, configurable: true, writable: true })
    else copy[key] = copied
  }
  return Object.freeze(copy)
}

function enter(depth: number, budget: Budget): void {
  if (depth > MAX_METADATA_DEPTH) throw new NotJson()
  spend(budget, 2)
}

function spend(budget: Budget, size: number): void {
  budget.size += size
  if (budget.size > MAX_METADATA_SIZE) throw new NotJson()
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm has another Object.prototype, which is an end of the chain all the same.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
