import { describe, expect, it } from 'vitest'
import { copyJsonObject, MAX_METADATA_DEPTH, MAX_METADATA_SIZE } from './json-value.js'

function nested(depth: number): unknown {
  let value: unknown = {}
  for (let level = 1; level < depth; level++) value = { value }
  return value
}

describe('copyJsonObject', () => {
  it('copies deeply and freezes deeply', () => {
    const source = { a: { b: [1, { c: 'x' }] } }
    const copy = copyJsonObject(source) as typeof source
    source.a.b.push(2)
    expect(copy).toEqual({ a: { b: [1, { c: 'x' }] } })
    expect(() => copy.a.b.push(2)).toThrow(TypeError)
    expect(() => Object.assign(copy.a.b[1] as object, { c: 'y' })).toThrow(TypeError)
  })

  it('keeps __proto__ and constructor as own keys and changes no prototype (M4)', () => {
    const copy = copyJsonObject(JSON.parse('{"__proto__":{"is_leader":true},"constructor":1,"a":{"__proto__":null}}'))
    expect(Object.keys(copy ?? {})).toEqual(['__proto__', 'constructor', 'a'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect((copy as { is_leader?: unknown }).is_leader).toBeUndefined()
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"is_leader":true},"constructor":1,"a":{"__proto__":null}}')
  })

  it('leaves undefined properties out, as JSON does, and turns -0 into 0', () => {
    expect(copyJsonObject({ a: undefined, b: 1, c: -0 })).toStrictEqual({ b: 1, c: 0 })
  })

  it('takes objects without prototype', () => {
    expect(copyJsonObject(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
  })

  it.each([
    ['null', null],
    ['an array', []],
    ['text', 'x'],
    ['NaN', { a: Number.NaN }],
    ['Infinity', { a: [Number.POSITIVE_INFINITY] }],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['a symbol', { a: Symbol('x') }],
    ['a Date', { a: new Date(0) }],
    ['a Map', { a: new Map() }],
    ['undefined in a list', { a: [undefined] }],
  ])('refuses %s', (_, value) => {
    expect(copyJsonObject(value)).toBeNull()
  })

  it('refuses a list of holes at its first one, however long it is', () => {
    expect(copyJsonObject({ a: new Array(1_000_000_000) })).toBeNull()
  })

  it('refuses what is nested too deep, cycles included, without overflowing the stack', () => {
    expect(copyJsonObject(nested(MAX_METADATA_DEPTH))).not.toBeNull()
    expect(copyJsonObject(nested(MAX_METADATA_DEPTH + 1))).toBeNull()
    expect(copyJsonObject(nested(1_000_000))).toBeNull()
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(copyJsonObject(cycle)).toBeNull()
  })

  it('refuses what is too large, in values, keys or the number of elements', () => {
    expect(copyJsonObject({ a: 'x'.repeat(MAX_METADATA_SIZE - 100) })).not.toBeNull()
    expect(copyJsonObject({ a: 'x'.repeat(MAX_METADATA_SIZE) })).toBeNull()
    expect(copyJsonObject({ ['x'.repeat(MAX_METADATA_SIZE)]: 1 })).toBeNull()
    expect(copyJsonObject({ a: new Array(MAX_METADATA_SIZE).fill(0) })).toBeNull()
    expect(copyJsonObject({ a: new Array(MAX_METADATA_SIZE).fill([]) })).toBeNull()
  })
})
