import { describe, expect, it } from 'vitest'
import { describeValue, invalidOption, MAX_NAME_LENGTH, requireInteger, requireName, requireOrder, requireSeconds } from './options.js'

describe('options', () => {
  it('are durations above 0 unless a lower bound is given', () => {
    expect(requireSeconds('x', 0.5)).toBe(0.5)
    expect(requireSeconds('x', 0, { atLeast: 0 })).toBe(0)
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined, 1n]) {
      expect(() => requireSeconds('leaseSeconds', value, { atMost: 60 })).toThrow(
        /^leaseSeconds must be a finite number of seconds above 0 and of at most 60, got /,
      )
    }
    expect(() => requireSeconds('x', 60.1, { atMost: 60 })).toThrow('got 60.1')
    expect(() => requireSeconds('x', 1, { above: 1 })).toThrow('above 1')
  })

  it('are whole numbers that are not negative unless a lower bound is given', () => {
    expect(requireInteger('x', 0)).toBe(0)
    expect(requireInteger('x', -1, { atLeast: -1 })).toBe(-1)
    for (const value of [-1, 0.5, 2 ** 53, Number.NaN, '1'])
      expect(() => requireInteger('x', value)).toThrow(/^x must be a whole number of at least 0, got /)
  })

  it('are names that messages can carry', () => {
    expect(requireName('x', '__proto__')).toBe('__proto__')
    for (const value of ['', 'x'.repeat(MAX_NAME_LENGTH + 1), '\udc00', 1, null])
      expect(() => requireName('x', value)).toThrow(/^x must be non-empty/)
  })

  it('stand in an order, which the message states with both names and values', () => {
    const [a, b] = [
      { name: 'a', value: 1 },
      { name: 'b', value: 2 },
    ]
    requireOrder(a, b)
    requireOrder(a, { ...b, value: 1 }, { orEqual: true })
    expect(() => requireOrder(b, a)).toThrow('b must be below a, which is 1, got 2')
    expect(() => requireOrder(a, { ...b, value: 1 })).toThrow('a must be below b, which is 1, got 1')
    expect(() => requireOrder(b, a, { orEqual: true })).toThrow('b must be at most a, which is 1, got 2')
  })

  it('are refused with a stable code and a bounded message', () => {
    expect(invalidOption('x', 'y'.repeat(1000), 'short')).toMatchObject({
      code: 'invalid_options',
      message: `x must be short, got "${'y'.repeat(40)}…"`,
    })
    expect([1, true, null, undefined, [1], {}, 1n, ' postgres://user:secret@host/database'].map(describeValue)).toEqual([
      '1',
      'true',
      'null',
      'undefined',
      'an array',
      'a value of type object',
      'a value of type bigint',
      'a URL',
    ])
  })
})
