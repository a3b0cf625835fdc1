// `pnpm bench`: measures what everything costs, beside the floor and the alternatives.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { errorMessage } from '@es/coordination-core'
import type { BenchmarkGroup } from './benchmark.js'
import { startBenchmarkServer } from './benchmark-server.js'
import { CATALOGUE, keep, rowName, rowNames, select } from './catalogue.js'
import { checkRows, comparable } from './check-run.js'
import { type CommandLine, parseCommandLine, USAGE } from './command-line.js'
import { describeMachine, formatMachine } from './machine.js'
import { Measurer } from './measurer.js'
import { withMeasured } from './performance-document.js'
import { formatRow, resultTable } from './result-table.js'
import { type Results, readResults, writeResults } from './results-file.js'
import { runScaling } from './scaling/run-scaling.js'
import { parseScalingCommandLine, SCALING_USAGE, type ScalingCommandLine } from './scaling/scaling-command-line.js'

const inPackage = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))
const RESULTS_FILE = inPackage('results.json')
/** Of the last run, whatever it measured. */
const LATEST_FILE = inPackage('latest-results.json')
const DOCUMENT = inPackage('../docs/performance.md')
/** How often a steady row is measured for the record. */
const RECORDED_RUNS = 3

/** Measures `groups`, and writes down what it finds. */
async function run(groups: readonly BenchmarkGroup[], { mode, json }: CommandLine, measurer: Measurer): Promise<void> {
  const machine = describeMachine()
  await measurer.measure(groups)
  // A moment in which the machine was too busy should not cost the whole record.
  await measurer.measure(keep(groups, (group, benchmark) => measurer.failures.has(rowName(group, benchmark))))
  for (let again = 1; mode === 'record' && again < RECORDED_RUNS; again++) await measurer.measure(comparable(groups))
  const results: Results = { machine: machine(), rows: measurer.results(groups) }
  const table = `${formatMachine(results.machine)}\n\n${resultTable(results.rows)}`
  const short = results.rows.filter(({ verdicts }) => verdicts.some(({ isMet }) => !isMet))
  console.log(`\n${table}\n\n${results.rows.length} rows, ${short.length} short of a target`)
  await writeResults(json ?? LATEST_FILE, results)
  if (mode === 'record' && measurer.failures.size === 0) {
    await writeResults(RESULTS_FILE, results)
    await writeFile(DOCUMENT, withMeasured(await readFile(DOCUMENT, 'utf8'), table))
    console.log(`Written: ${RESULTS_FILE} and ${DOCUMENT}`)
  }
}

/** Compares what can be compared with `record`; whether nothing is worse, and nothing left out. */
async function check(record: Results, groups: readonly BenchmarkGroup[], { json }: CommandLine, measurer: Measurer): Promise<boolean> {
  const machine = describeMachine()
  const comparisons = await checkRows({ groups, record: record.rows, measurer, print: (line) => console.log(line) })
  if (json !== null) await writeResults(json, { machine: machine(), rows: measurer.results(comparable(groups)) })
  const worse = [...comparisons].filter(([, { isWorse }]) => isWorse).map(([name]) => name)
  const missing = rowNames(comparable(groups)).filter((name) => !comparisons.has(name))
  console.log(`\n${comparisons.size} rows compared, ${worse.length === 0 ? 'none worse' : `worse: ${worse.join(', ')}`}`)
  if (missing.length > 0) console.log(`Not compared: ${missing.join(', ')}; make a new record with --record`)
  return worse.length === 0 && missing.length === 0
}

/** `pnpm bench scaling`, which is a command of its own: it takes minutes, and compares with nothing. */
async function scaling(args: readonly string[], signal: AbortSignal): Promise<number> {
  let command: ScalingCommandLine
  try {
    command = parseScalingCommandLine(args)
  } catch (error) {
    console.error(`${errorMessage(error)}\n\n${SCALING_USAGE}`)
    return 2
  }
  await runScaling(command, signal)
  return 0
}

/** The exit status: 0 · 1 when something could not be measured, or is worse · 2 when the command line makes no sense. */
async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  // pnpm hands the separator on.
  const [first, ...rest] = args.filter((arg) => arg !== '--')
  if (args.includes('--help')) {
    console.log(first === 'scaling' ? SCALING_USAGE : USAGE)
    return 0
  }
  if (first === 'scaling') return await scaling(rest, signal)
  let command: CommandLine
  let groups: readonly BenchmarkGroup[]
  try {
    command = parseCommandLine(args)
    groups = select(CATALOGUE, command.names)
    if (command.mode === 'check' && comparable(groups).length === 0) {
      throw new TypeError(
        `Nothing of ${command.names.join(', ')} can be compared between runs; what can: ${rowNames(comparable(CATALOGUE)).join(', ')}`,
      )
    }
  } catch (error) {
    console.error(`${errorMessage(error)}\n\n${USAGE}`)
    return 2
  }
  let record: Results | null = null
  try {
    if (command.mode === 'check') record = await readResults(RESULTS_FILE)
  } catch (error) {
    console.error(errorMessage(error))
    return 2
  }
  const server = groups.some(({ needsServer }) => needsServer) ? await startBenchmarkServer() : null
  try {
    const measurer = new Measurer({ server, signal, told: (row) => console.log(formatRow(row)) })
    let isFine = true
    if (record !== null) isFine = await check(record, groups, command, measurer)
    else await run(groups, command, measurer)
    for (const [row, reason] of measurer.failures) console.error(`FAILED ${row}: ${reason}`)
    return isFine && measurer.failures.size === 0 ? 0 : 1
  } finally {
    await server?.[Symbol.asyncDispose]()
  }
}

const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort(name))
process.exitCode = await main(process.argv.slice(2), interrupted.signal).catch((error: unknown) => {
  if (!interrupted.signal.aborted) throw error
  process.kill(process.pid, interrupted.signal.reason as NodeJS.Signals)
  return 1
})
