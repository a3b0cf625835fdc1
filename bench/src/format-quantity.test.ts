import { describe, expect, it } from 'vitest'
import { formatQuantity, formatRatio } from './format-quantity.js'

it.each([
  ['duration', 12.345, '12.3 s'],
  ['duration', 0.0200001, '20 ms'],
  ['duration', 0.000_123_4, '123 us'],
  ['duration', 3.2e-8, '32 ns'],
  ['rate', 252_800.4, '252,800 /s'],
  ['bytes', 709.4, '709 B'],
  ['bytes', 2048, '2 KiB'],
  ['percent', 0.4567, '0.457 %'],
  ['count', 40, '40'],
  ['duration', Number.NaN, '-'],
] as const)('a %s of %d reads %s', (unit, value, text) => {
  expect(formatQuantity(unit, value)).toBe(text)
})

describe('a ratio', () => {
  it('is a factor, or a fraction where a factor would be nothing but zeros', () => {
    expect([1.234, 0.5, 0.002, 0].map(formatRatio)).toEqual(['1.23 x', '0.50 x', '1/500', '0.00 x'])
  })

  it('is nothing without a comparison', () => {
    expect([null, Number.NaN].map(formatRatio)).toEqual(['-', '-'])
  })
})
