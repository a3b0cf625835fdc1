import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeApplicationName, encodeApplicationName } from './application-name.js'

describe('application names', () => {
  it.each([
    ['worker-1', 'worker-1'],
    ['a b', 'a b'],
    ['100%', '100%25'],
    ['Ä', '%C3%84'],
    ['line\nbreak', 'line%0Abreak'],
    ['\u007f', '%7F'],
    ['🦀', '%F0%9F%A6%80'],
  ])('writes %j as %j', (identity, encoded) => {
    expect(encodeApplicationName(identity)).toBe(encoded)
    expect(decodeApplicationName(encoded)).toBe(identity)
  })

  it('returns what was encoded, or a beginning of it when it was too long; printable ASCII of at most 63 bytes in between', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 90 }).filter((text) => !/\p{Surrogate}/u.test(text)),
        (identity) => {
          const encoded = encodeApplicationName(identity)
          expect(encoded).toMatch(/^[\x20-\x7e]{0,63}$/)
          const decoded = decodeApplicationName(encoded)
          expect(identity.startsWith(decoded)).toBe(true)
          if (encodeURIComponent(identity).length <= 63) expect(decoded).toBe(identity)
        },
      ),
      { seed: 7, numRuns: 500 },
    )
  })

  it('keeps 63 bytes and cuts the 64th', () => {
    expect(encodeApplicationName('a'.repeat(63))).toHaveLength(63)
    expect(encodeApplicationName('a'.repeat(64))).toHaveLength(63)
  })

  it('never cuts inside an encoded character', () => {
    expect(encodeApplicationName(`${'a'.repeat(60)}Ä`)).toBe('a'.repeat(60))
    expect(encodeApplicationName('🦀'.repeat(6))).toBe('%F0%9F%A6%80'.repeat(5))
  })

  it.each(['100%', '%zz', '%C3', 'psql'])('leaves %j, which is no name of ours, as it is', (name) => {
    expect(decodeApplicationName(name)).toBe(name)
  })
})
