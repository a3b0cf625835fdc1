// `pnpm chaos --minutes 5 --seed 7`: workers over a real server, faults at random, and a verdict on what they recorded and wrote.
// Exit status: 0 when the verdict holds, 1 when not, 2 for wrong arguments, 128 + n after a signal.
import { constants } from 'node:os'
import { type ChaosOptions, parseChaosOptions, UsageError, usage } from './chaos-options.js'
import { hostSeconds } from './host-clock.js'
import { describeRun } from './judge/describe-run.js'
import { formatReport } from './judge/report.js'
import { RunFolder } from './judge/run-folder.js'
import { recordRun } from './record-run.js'
import { runChaos } from './run-chaos.js'

class Interruption extends Error {
  readonly exitStatus: number

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`)
    this.exitStatus = 128 + constants.signals[signal]
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function main(args: readonly string[]): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupted.abort(new Interruption(signal)))
  }
  if (args.includes('--help')) {
    print(usage())
    return 0
  }
  let options: ChaosOptions
  try {
    options = parseChaosOptions(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage()}\n`)
    return 2
  }
  return await run(options, interrupted.signal)
}

async function run(options: ChaosOptions, signal: AbortSignal): Promise<number> {
  const startedAt = hostSeconds()
  const say = (text: string): void => print(`${(hostSeconds() - startedAt).toFixed(1).padStart(7)} s  ${text}`)
  const folder = await RunFolder.make()
  let isWorthKeeping = options.isKept
  try {
    const outcome = await runChaos({ options, folder, say, signal })
    await folder.write('report.json', formatReport(options, outcome))
    for (const line of describeRun(outcome)) print(line)
    isWorthKeeping ||= !outcome.verdict.holds
    if (options.isRecorded && outcome.verdict.holds) print(`Recorded in ${await recordRun(options, outcome)}`)
    return outcome.verdict.holds ? 0 : 1
  } catch (error) {
    if (error instanceof Interruption) {
      print(error.message)
      return error.exitStatus
    }
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    isWorthKeeping = true
    return 1
  } finally {
    if (isWorthKeeping) print(`Histories, logs and report: ${folder.root}`)
    else await folder.remove()
  }
}

process.exitCode = await main(process.argv.slice(2))
