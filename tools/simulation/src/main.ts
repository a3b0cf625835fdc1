import { errorMessage } from '@es/coordination-core'
import { soak } from './soak.js'
import { parseSoakOptions, USAGE } from './soak-options.js'

const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    print(USAGE)
    return 0
  }
  let options: ReturnType<typeof parseSoakOptions>
  try {
    options = parseSoakOptions(args)
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n${USAGE}\n`)
    return 2
  }
  return (await soak(options, print)) ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
