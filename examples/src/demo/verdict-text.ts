import { type Findings, lengthOf, type PhaseCost, type Verdict } from './verdict.js'

/** The verdict for a terminal. */
export function describeVerdict({ evidence }: Findings, { checks, costs, holds }: Verdict): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return [
    '',
    'Verdict, from the database and from what every process reported of itself',
    ...checks.map(({ name, isFine, found }) => `  ${isFine ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${found}`),
    '',
    ...tabulate([
      ['phase', 'longest gap', 'limit', 'starts', 'fewest'],
      ...costs.map((cost) => [
        cost.phase.title,
        gapText(cost),
        milliseconds(cost.phase.gapLimitSeconds),
        String(cost.starts),
        String(cost.phase.fewestStarts),
      ]),
    ]),
    '',
    ...tabulate([
      ['subscription', 'events', 'lost', 'twice', 'wrong rows', 'owners'],
      ...evidence.map(({ subscription, applied, lost, appliedTwice, wrongRows, writers }) =>
        [subscription, applied.toLocaleString('en-US'), lost, appliedTwice, wrongRows, writers.length].map(String),
      ),
    ]),
    '',
    holds ? 'The verdict holds.' : 'THE VERDICT DOES NOT HOLD.',
    '',
  ]
}

/** A duration for people. */
export function milliseconds(seconds: number): string {
  return Number.isFinite(seconds) ? `${Math.round(seconds * 1000).toLocaleString('en-US')} ms` : 'unlimited'
}

/** The longest gap of a phase, and where it was. */
export function gapText({ longestGap }: PhaseCost): string {
  return longestGap === null ? 'none' : `${milliseconds(lengthOf(longestGap))} (${longestGap.subscription})`
}

/** Rows of cells, the first being the head, as lines with aligned columns. */
function tabulate(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd())
}
