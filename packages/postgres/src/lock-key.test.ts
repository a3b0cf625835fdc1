import { CoordinationError } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { deriveLockKey } from './lock-key.js'

// WIRE FORMAT. A row that has to change means that old and new processes lead side by side during a deploy: it takes a major release.
const GOLDEN: readonly (readonly [namespace: string, name: string, key: string])[] = [
  ['default', '', '78623032413494688'],
  ['default', 'a', '-8248882998697908196'],
  ['default', 'orders', '-6358586697743174427'],
  ['default', 'Orders', '4838454246344184938'],
  ['default', 'orders ', '1249643354113045872'],
  ['default', 'Ä'.normalize('NFC'), '-1514883911901118631'],
  ['default', 'Ä'.normalize('NFD'), '-7392584071494245551'],
  ['default', '🦀', '-1594732562446092664'],
  ['default', '👩\u200d👩\u200d👧', '5335652910194701941'],
  ['default', '日本語', '-8638643634628378224'],
  ['default', '\0', '-4057906736974007241'],
  ['default', 'a\0b', '-3570214456379481404'],
  ['default', '__proto__', '-8413178692819070701'],
  ['default', 'constructor', '-3385778190577225434'],
  ['default', "'; DROP TABLE x; --", '806571146671509750'],
  ['default', '-1', '-2936444382802010633'],
  ['default', 'x'.repeat(10_000), '2433636342721808590'],
  ['default', 'é'.repeat(4_000), '6133185019049068012'],
  ['', 'orders', '-7983811046488897763'],
  ['leader/default', 'orders', '7113842768537979037'],
  ['leader/billing', 'orders', '-3907816596946044390'],
  ['claim/default', 'orders', '-1654981305021090434'],
  ['leader', '/defaultorders', '1411606849179132366'],
  ['a', 'b', '-562582604592944749'],
  ['ab', '', '-8575440543210375861'],
]

const shown = (text: string): string => JSON.stringify(text.length > 30 ? `${text.slice(0, 3)}… (${text.length})` : text)

describe('deriveLockKey', () => {
  it.each(GOLDEN.map(([namespace, name, key]) => [shown(namespace), shown(name), { namespace, name, key }] as const))(
    'derives the key that it has always had for namespace %s and name %s (P10)',
    (_namespace, _name, { namespace, name, key }) => {
      expect(deriveLockKey(namespace, name)).toBe(key)
    },
  )

  it('has a table of different keys, most beyond what a JavaScript number holds, of both signs (P10)', () => {
    const keys = GOLDEN.map(([, , key]) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.some((key) => BigInt(key) > 2n ** 53n)).toBe(true)
    expect(keys.some((key) => BigInt(key) < -(2n ** 53n))).toBe(true)
    expect(keys.some((key) => String(Number(key)) !== key)).toBe(true)
  })

  it('derives 200,000 different keys that fit a signed 64-bit integer and use all of it (P10)', () => {
    const keys = new Set<string>()
    let bits = 0n
    for (let index = 0; index < 200_000; index++) {
      const key = deriveLockKey('default', `g-${index}`)
      const value = BigInt(key)
      if (BigInt.asIntN(64, value) !== value || String(value) !== key) throw new Error(`${key} is no signed 64-bit integer in decimal`)
      bits |= value < 0n ? ~value : value
      keys.add(key)
    }
    expect(keys.size).toBe(200_000)
    expect(bits).toBe(2n ** 63n - 1n)
  })

  it('refuses a namespace with a zero byte, which could end it early', () => {
    expect(() => deriveLockKey('a\0b', 'c')).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('zero byte') }),
    )
  })

  it.each([
    ['name', 'default', '\ud800'],
    ['name', 'default', 'a\udc00b'],
    ['namespace', '\ud83d', 'a'],
  ])('refuses an unpaired surrogate in the %s, because two such texts have the same bytes', (_where, namespace, name) => {
    expect(() => deriveLockKey(namespace, name)).toThrow(CoordinationError)
    expect(() => deriveLockKey(namespace, name)).toThrow('unpaired surrogates')
  })

  it('does not take two halves of a pair on both sides of the boundary for a character', () => {
    expect(() => deriveLockKey('\ud83e', '\udd80')).toThrow('unpaired surrogates')
  })
})
