import { parseArgs } from 'node:util'
import { SABOTAGES, type Sabotage } from './worker/sabotage.js'

/** What `npm run demo -- --events 2000 ...` sets. */
export interface DemoOptions {
  /** Length of the event log. */
  readonly events: number
  /** Number of worker processes. */
  readonly workers: number
  /** How many times the leader is killed. */
  readonly kills: number
  /** Events that a worker applies in one transaction. */
  readonly batch: number
  /** Length of the work that each transaction pretends to do, in milliseconds: it paces the demo. */
  readonly workMs: number
  /** Lease of the elector, in seconds. */
  readonly leaseSeconds: number
  /** Longest time from a kill to the next election for which the verdict holds, in seconds. */
  readonly takeoverSeconds: number
  /** A fault to build in, to see that the verdict notices; `null` for none. */
  readonly sabotage: Sabotage | null
}

const NUMBERS = {
  events: { flag: 'events', default: 20_000, atLeast: 1, isWhole: true },
  workers: { flag: 'workers', default: 4, atLeast: 2, isWhole: true },
  kills: { flag: 'kills', default: 3, atLeast: 0, isWhole: true },
  batch: { flag: 'batch', default: 100, atLeast: 1, isWhole: true },
  workMs: { flag: 'work-ms', default: 45, atLeast: 0, isWhole: true },
  leaseSeconds: { flag: 'lease-seconds', default: 2, atLeast: 0.3, isWhole: false },
  takeoverSeconds: { flag: 'takeover-seconds', default: 2, atLeast: 0, isWhole: false },
} as const

/** Batches that must be left for each part of the work between two kills, so that every kill hits a leader at work. */
const BATCHES_BETWEEN_KILLS = 4

/** Wrong command-line arguments; the message says which and why. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const flags = Object.values(NUMBERS).map(({ flag }) => [flag, { type: 'string' }] as const)
  const values = parse(args, Object.fromEntries([...flags, ['sabotage', { type: 'string' }]]))
  const numbers = Object.entries(NUMBERS).map(([name, rule]) => [name, readNumber(values[rule.flag], rule)])
  const options = { ...Object.fromEntries(numbers), sabotage: readSabotage(values.sabotage) } as DemoOptions
  const parts = options.kills + 2
  if (options.events < parts * BATCHES_BETWEEN_KILLS * options.batch) {
    throw new UsageError(
      `--events ${options.events} in batches of ${options.batch} leave no work between ${options.kills} kills: take smaller batches`,
    )
  }
  return options
}

/** One line on each option. */
export function usage(): string {
  const numbers = Object.values(NUMBERS).map(({ flag, default: preset }) => `  --${flag} ${preset}`)
  return ['Options of the demo, with their defaults:', ...numbers, `  --sabotage ${SABOTAGES.join('|')} (none)`].join('\n')
}

function parse(
  args: readonly string[],
  options: Record<string, { readonly type: 'string' }>,
): Readonly<Record<string, string | undefined>> {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values as Record<string, string | undefined>
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readNumber(text: string | undefined, rule: (typeof NUMBERS)[keyof typeof NUMBERS]): number {
  const value = text === undefined ? rule.default : text.trim() === '' ? Number.NaN : Number(text)
  const isFine = Number.isFinite(value) && value >= rule.atLeast && (!rule.isWhole || Number.isInteger(value))
  if (!isFine)
    throw new UsageError(`--${rule.flag} must be a ${rule.isWhole ? 'whole ' : ''}number of at least ${rule.atLeast}, got ${text}`)
  return value
}

function readSabotage(text: string | undefined): Sabotage | null {
  if (text === undefined) return null
  const found = SABOTAGES.find((sabotage) => sabotage === text)
  if (!found) throw new UsageError(`--sabotage must be one of ${SABOTAGES.join(', ')}, got ${text}`)
  return found
}
