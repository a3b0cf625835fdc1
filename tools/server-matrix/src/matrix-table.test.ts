import { describe, expect, it } from 'vitest'
import { faultOf, type MatrixResult, matrixTable } from './matrix-table.js'

const supported = { major: 15, isSupported: true, alias: 'postgres-15-linux-x64' }
const tooOld = { major: 13, isSupported: false, alias: 'postgres-13-linux-x64' }
const fine: MatrixResult = {
  version: supported,
  serverVersion: '15.18',
  counts: { passed: 9, failed: 0, skipped: 1 },
  seconds: 61.7,
  problem: null,
}
const refused: MatrixResult = { version: tooOld, serverVersion: '13.23', counts: null, seconds: 2, problem: null }

describe('faultOf', () => {
  it('finds none where all tests passed, or where a server that is too old was refused', () => {
    expect([faultOf(fine), faultOf(refused)]).toEqual([null, null])
  })

  it.each<[string, MatrixResult, string]>([
    ['a test failed', { ...fine, counts: { passed: 8, failed: 1, skipped: 1 } }, '1 failed'],
    ['no test ran', { ...fine, counts: { passed: 0, failed: 0, skipped: 10 } }, 'no test ran'],
    ['tests were not even counted', { ...fine, counts: null }, 'no test ran'],
    ['another server answered', { ...fine, serverVersion: '18.4' }, 'the server says that it is 18.4'],
    ['no server answered', { ...fine, serverVersion: null }, 'the server says that it is null'],
    ['there was a problem', { ...fine, problem: 'it broke' }, 'it broke'],
    ['one that is too old was not refused', { ...refused, problem: 'it was not refused' }, 'it was not refused'],
  ])('finds one where %s', (_what, result, fault) => {
    expect(faultOf(result)).toBe(fault)
  })
})

describe('matrixTable', () => {
  it('has one line for each version', () => {
    expect(matrixTable([refused, fine, { ...fine, serverVersion: null, counts: null, problem: 'it broke' }])).toBe(
      [
        'version  server  passed  failed  skipped  seconds  verdict',
        '13       13.23   -       -       -        2        ok: too old, and refused',
        '15       15.18   9       0       1        62       ok',
        '15       -       -       -       -        62       FAILED: it broke',
      ].join('\n'),
    )
  })
})
