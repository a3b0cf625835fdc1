// `npm run demo`: twelve projections shared by four processes, a scene for each fault, a verdict from the database, and a timeline to look at.
// Exit status: 0 when the verdict holds, 1 when not, 2 for wrong arguments, 128 + n after a signal. The last line is JSON.
import { constants } from 'node:os'
import { runDemo } from './demo.js'
import { parseDemoOptions, UsageError, usage } from './demo-options.js'
import { openScreen } from './screen.js'
import { type Summary, summarizeFailure } from './summary.js'

class Interruption extends Error {
  readonly exitStatus: number

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`)
    this.exitStatus = 128 + constants.signals[signal]
  }
}

async function main(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupted.abort(new Interruption(signal)))
  }
  let summary: Summary
  try {
    const options = parseDemoOptions(args)
    summary = await runDemo(options, openScreen(process.stdout), interrupted.signal)
    process.exitCode = summary.ok ? 0 : 1
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usage()}`)
      process.exitCode = 2
      return
    }
    if (!(error instanceof Interruption)) console.error(error)
    process.exitCode = error instanceof Interruption ? error.exitStatus : 1
    summary = summarizeFailure(error instanceof Error ? error.message : String(error))
  }
  console.log(JSON.stringify(summary))
}

await main(process.argv.slice(2))
