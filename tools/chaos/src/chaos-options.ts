import { parseArgs } from 'node:util'
import { FAULT_NAMES, type FaultName } from './plan/fault-kinds.js'
import { SABOTAGES, type Sabotage } from './worker/worker-settings.js'

/** What `pnpm chaos --minutes 5 --seed 7 ...` sets. */
export interface ChaosOptions {
  /** Length of the faults and calms together; starting, draining and judging come on top. */
  readonly minutes: number
  /** The same seed plans the same faults. */
  readonly seed: number
  readonly leaseSeconds: number
  readonly eventsPerSecond: number
  /** Whether histories and report are kept also when the verdict holds. */
  readonly isKept: boolean
  /** Whether the figures are written into docs/reliability.md. */
  readonly isRecorded: boolean
  /** The kinds of faults that are planned. */
  readonly faults: readonly FaultName[]
  /** A fault of the cluster itself to build in, to see that it is found; `null` for none. */
  readonly sabotage: Sabotage | null
}

const NUMBERS = {
  minutes: { flag: 'minutes', preset: 1, atLeast: 0.1, atMost: 24 * 60, isWhole: false },
  seed: { flag: 'seed', preset: 1, atLeast: 0, atMost: 2 ** 32 - 1, isWhole: true },
  leaseSeconds: { flag: 'lease-seconds', preset: 1.5, atLeast: 0.6, atMost: 60, isWhole: false },
  eventsPerSecond: { flag: 'events-per-second', preset: 25, atLeast: 1, atMost: 1000, isWhole: false },
} as const

/** Wrong command-line arguments; the message says which and why. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseChaosOptions(args: readonly string[]): ChaosOptions {
  // Some ways to start a script hand the separator on.
  const values = parse(args[0] === '--' ? args.slice(1) : args)
  const numbers = Object.entries(NUMBERS).map(([name, rule]) => [name, readNumber(text(values[rule.flag]), rule)])
  return {
    ...(Object.fromEntries(numbers) as Record<keyof typeof NUMBERS, number>),
    isKept: values.keep === true,
    isRecorded: values.record === true,
    faults: readFaults(text(values.faults)),
    sabotage: readSabotage(text(values.sabotage)),
  }
}

/** One line on each option. */
export function usage(): string {
  return [
    'Options, with their defaults:',
    ...Object.values(NUMBERS).map(({ flag, preset }) => `  --${flag} ${preset}`),
    `  --faults ${FAULT_NAMES.join(',')}`,
    '  --keep      keep histories and report also when the verdict holds',
    '  --record    write the figures into docs/reliability.md',
    `  --sabotage ${SABOTAGES.join('|')} (none)`,
  ].join('\n')
}

type Values = Readonly<Record<string, string | boolean | undefined>>

function parse(args: readonly string[]): Values {
  const flags = [...Object.values(NUMBERS).map(({ flag }) => flag), 'faults', 'sabotage']
  const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }]))
  try {
    const switches = { keep: { type: 'boolean' }, record: { type: 'boolean' } } as const
    return parseArgs({ args: [...args], options: { ...options, ...switches }, strict: true }).values as Values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function readNumber(given: string | undefined, { flag, preset, atLeast, atMost, isWhole }: (typeof NUMBERS)[keyof typeof NUMBERS]): number {
  const value = given === undefined ? preset : given.trim() === '' ? Number.NaN : Number(given)
  if (value >= atLeast && value <= atMost && (!isWhole || Number.isInteger(value))) return value
  throw new UsageError(`--${flag} must be a ${isWhole ? 'whole ' : ''}number from ${atLeast} to ${atMost}, got ${given}`)
}

function readFaults(given: string | undefined): readonly FaultName[] {
  if (given === undefined) return FAULT_NAMES
  const names = given.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !FAULT_NAMES.some((fault) => fault === name))
  if (wrong !== undefined) throw new UsageError(`--faults must be some of ${FAULT_NAMES.join(',')}, got ${wrong}`)
  return FAULT_NAMES.filter((name) => names.includes(name))
}

function readSabotage(given: string | undefined): Sabotage | null {
  if (given === undefined) return null
  const found = SABOTAGES.find((sabotage) => sabotage === given)
  if (found === undefined) throw new UsageError(`--sabotage must be one of ${SABOTAGES.join(', ')}, got ${given}`)
  return found
}
