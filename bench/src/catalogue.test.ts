import { describe, expect, it } from 'vitest'
import { CATALOGUE, keep, rowName, select } from './catalogue.js'

const rows = (groups: typeof CATALOGUE): string[] => groups.flatMap((group) => group.benchmarks.map((one) => rowName(group, one)))

describe('the catalogue', () => {
  it('has a name of its own for every row, and a target for every one', () => {
    expect(new Set(rows(CATALOGUE)).size).toBe(rows(CATALOGUE).length)
    for (const name of rows(CATALOGUE)) expect(name).toMatch(/^[a-z]+\/[a-z0-9-]+$/)
    for (const { targets } of CATALOGUE.flatMap(({ benchmarks }) => benchmarks)) expect(targets).not.toEqual([])
  })
})

describe('a selection', () => {
  it('is everything without names', () => {
    expect(select(CATALOGUE, [])).toBe(CATALOGUE)
  })

  it('is a group, a row of another, and each once', () => {
    expect(rows(select(CATALOGUE, ['elector/renew', 'messages', 'messages/decode']))).toEqual([
      'messages/decode',
      'messages/encode',
      'elector/renew',
    ])
  })

  it('refuses a name that is not there, with all that are', () => {
    const attempt = () => select(CATALOGUE, ['elector', 'elector/nothing'])
    expect(attempt).toThrow(RangeError)
    expect(attempt).toThrow(/^There is no benchmark elector\/nothing\. .*\nelector\/renew\n/s)
  })

  it('keeps no group without a row', () => {
    expect(keep(CATALOGUE, (group, { name }) => group.name === 'elector' && name === 'renew').map(({ name }) => name)).toEqual(['elector'])
  })
})
