import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { withMeasured } from '../performance-document.js'
import { measureSizes } from './measure-sizes.js'
import type { ScalingResults } from './results.js'
import { scalingCharts } from './scaling-charts.js'
import type { ScalingCommandLine } from './scaling-command-line.js'
import { scalingTables } from './scaling-tables.js'
import { selectSizes } from './sizes.js'
import { svgChart } from './svg-chart.js'

const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const RECORD = inRepository('bench/scaling.json')
const DOCUMENT = inRepository('docs/scaling.md')
const WRITTEN_BY = 'pnpm bench scaling --record'

/** `pnpm bench scaling`: measures how cost grows, prints it, and writes it down where that is asked for. */
export async function runScaling(command: ScalingCommandLine, signal: AbortSignal): Promise<void> {
  const results = await measureSizes(selectSizes(command), { signal, print: (line) => console.log(line) })
  console.log(`\n${scalingTables(results)}`)
  const text = `${JSON.stringify(results, null, 2)}\n`
  if (command.json !== null) await writeFile(command.json, text)
  if (!command.isRecord) return
  await writeFile(RECORD, text)
  await writeDocument(results)
  console.log(`\nWritten: ${RECORD}, ${DOCUMENT}, and the charts beside it`)
}

async function writeDocument(results: ScalingResults): Promise<void> {
  const charts = scalingCharts(results)
  for (const [name, chart] of charts) await writeFile(inRepository(`docs/${name}`), svgChart(chart))
  const pictures = [...charts].map(([name, { title }]) => `![${title}](${name})`)
  const measured = [scalingTables(results), ...pictures].join('\n\n')
  await writeFile(DOCUMENT, withMeasured(await readFile(DOCUMENT, 'utf8'), measured, WRITTEN_BY))
}
