import { formatQuantity, formatRatio } from './format-quantity.js'
import { markdownTable } from './markdown-table.js'
import type { RowResult } from './row-result.js'
import type { Summary } from './statistics.js'

/** One row as a line of text, for whoever waits for it. */
export function formatRow(row: RowResult): string {
  const { name, unit, measured, beside, ratio, verdicts } = row
  const figures = `${formatQuantity(unit, measured.median)}, beside ${beside === null ? 'nothing' : formatQuantity(unit, beside.median)}: ${formatRatio(ratio)}`
  const verdict = verdicts.length === 0 ? '' : `  (${verdicts.map(({ text, isMet }) => (isMet ? text : `NOT ${text}`)).join(', ')})`
  return `${verdicts.every(({ isMet }) => isMet) ? 'ok   ' : 'SHORT'} ${name.padEnd(34)} ${figures}${verdict}`
}

/** All rows as a table in Markdown, and below it what is to be said about some. */
export function resultTable(rows: readonly RowResult[]): string {
  const table = markdownTable(
    ['what', 'beside', 'measured', 'beside it', 'ratio', 'targets', 'met'],
    rows.map(({ what, besideWhat, unit, measured, beside, ratio, verdicts }) => [
      ...[what, besideWhat],
      ...[formatSummary(unit, measured), beside === null ? '-' : formatSummary(unit, beside), formatRatio(ratio)],
      ...[verdicts.map(({ text }) => text).join('; '), verdicts.every(({ isMet }) => isMet) ? 'yes' : '**no**'],
    ]),
  )
  const remarks = rows.flatMap(({ what, besideWhat, remarks: all }) => all.map((remark) => `- ${what}, beside ${besideWhat}: ${remark}`))
  return [table, ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n')
}

function formatSummary(unit: RowResult['unit'], { median, p10, p90 }: Summary): string {
  if (p10 === p90) return formatQuantity(unit, median)
  return `${formatQuantity(unit, median)} (${formatQuantity(unit, p10)} to ${formatQuantity(unit, p90)})`
}
