import { expect, it } from 'vitest'
import { formatRow, resultTable } from './result-table.js'
import type { RowResult } from './row-result.js'

const met: RowResult = {
  name: 'elector/renew',
  what: '`renew`',
  besideWhat: '`SELECT 1`',
  unit: 'duration',
  measured: { median: 0.0002, p10: 0.00015, p90: 0.0003, count: 60 },
  beside: { median: 0.0001, p10: 0.0001, p90: 0.0001, count: 60 },
  ratio: 2,
  steadyRatios: [2],
  verdicts: [{ text: 'at most 2.5 x', isMet: true }],
  remarks: [],
}
const short: RowResult = {
  ...met,
  name: 'takeover/redlock',
  beside: null,
  ratio: null,
  verdicts: [
    { text: 'ahead', isMet: true },
    { text: 'never two leaders', isMet: false },
  ],
  remarks: ['There is no redis-server on this machine.'],
}

it('a row is one line that says what is missed', () => {
  expect(formatRow(met)).toBe('ok    elector/renew                      200 us, beside 100 us: 2.00 x  (at most 2.5 x)')
  expect(formatRow(short)).toBe('SHORT takeover/redlock                   200 us, beside nothing: -  (ahead, NOT never two leaders)')
})

it('the table has a line for each row, and below it what is to be said', () => {
  expect(resultTable([met, short])).toBe(
    [
      '| what    | beside     | measured                  | beside it | ratio  | targets                  | met    |',
      '| ------- | ---------- | ------------------------- | --------- | ------ | ------------------------ | ------ |',
      '| `renew` | `SELECT 1` | 200 us (150 us to 300 us) | 100 us    | 2.00 x | at most 2.5 x            | yes    |',
      '| `renew` | `SELECT 1` | 200 us (150 us to 300 us) | -         | -      | ahead; never two leaders | **no** |',
      '',
      '- `renew`, beside `SELECT 1`: There is no redis-server on this machine.',
    ].join('\n'),
  )
})
