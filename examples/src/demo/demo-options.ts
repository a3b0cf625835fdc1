import { parseArgs } from 'node:util'
import { SCENES, type SceneName } from './scene.js'
import { SABOTAGES, type Sabotage } from './worker/sabotage.js'

/** What `npm run demo -- --calm 5 ...` sets. */
export interface DemoOptions {
  /** Events that are appended to the log each second, while the demo lasts. */
  readonly eventsPerSecond: number
  /** Most events that a worker applies in one transaction. */
  readonly batch: number
  /** Length of the work that each transaction pretends to do, in milliseconds. */
  readonly workMs: number
  /** Lease of the claims and of leadership, in seconds. */
  readonly leaseSeconds: number
  /** How long the workers are left alone between two faults, in seconds. */
  readonly calmSeconds: number
  /** Multiplies the longest gaps without an owner for which the verdict holds. */
  readonly tolerance: number
  /** What happens, in the order of {@link SCENES}. */
  readonly scenes: readonly SceneName[]
  /** A fault to build in, to see that the verdict notices; `null` for none. */
  readonly sabotage: Sabotage | null
  /** Where the timeline is written; `null` for a file of its own in the temporary folder. */
  readonly timeline: string | null
  /** Whether warnings of the workers are shown. */
  readonly isVerbose: boolean
}

const NUMBERS = {
  eventsPerSecond: { flag: 'events-per-second', default: 200, atLeast: 1, isWhole: true },
  batch: { flag: 'batch', default: 50, atLeast: 1, isWhole: true },
  workMs: { flag: 'work-ms', default: 60, atLeast: 0, isWhole: true },
  leaseSeconds: { flag: 'lease-seconds', default: 2, atLeast: 0.3, isWhole: false },
  calmSeconds: { flag: 'calm', default: 3, atLeast: 0, isWhole: false },
  tolerance: { flag: 'tolerance', default: 1, atLeast: 0, isWhole: false },
} as const

/** Wrong command-line arguments; the message says which and why. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  const values = parse(args)
  const numbers = Object.entries(NUMBERS).map(([name, rule]) => [name, readNumber(text(values[rule.flag]), rule)])
  return {
    ...(Object.fromEntries(numbers) as Record<keyof typeof NUMBERS, number>),
    scenes: readScenes(text(values.scenes)),
    sabotage: readSabotage(text(values.sabotage)),
    timeline: text(values.timeline) ?? null,
    isVerbose: values.verbose === true,
  }
}

/** One line on each option. */
export function usage(): string {
  return [
    'Options of the demo, with their defaults:',
    ...Object.values(NUMBERS).map(({ flag, default: preset }) => `  --${flag} ${preset}`),
    `  --scenes ${SCENES.join(',')}`,
    '  --timeline FILE (one in the temporary folder)',
    `  --sabotage ${SABOTAGES.join('|')} (none)`,
    '  --verbose',
  ].join('\n')
}

type Values = Readonly<Record<string, string | boolean | undefined>>

function parse(args: readonly string[]): Values {
  const flags = [...Object.values(NUMBERS).map(({ flag }) => flag), 'scenes', 'sabotage', 'timeline']
  const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }]))
  try {
    return parseArgs({ args: [...args], options: { ...options, verbose: { type: 'boolean' } }, strict: true }).values as Values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function readNumber(given: string | undefined, rule: (typeof NUMBERS)[keyof typeof NUMBERS]): number {
  const value = given === undefined ? rule.default : given.trim() === '' ? Number.NaN : Number(given)
  const isFine = Number.isFinite(value) && value >= rule.atLeast && (!rule.isWhole || Number.isInteger(value))
  if (!isFine)
    throw new UsageError(`--${rule.flag} must be a ${rule.isWhole ? 'whole ' : ''}number of at least ${rule.atLeast}, got ${given}`)
  return value
}

function readScenes(given: string | undefined): readonly SceneName[] {
  if (given === undefined) return SCENES
  const names = given.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !SCENES.some((scene) => scene === name))
  if (wrong !== undefined) throw new UsageError(`--scenes must be some of ${SCENES.join(',')}, got ${wrong}`)
  return SCENES.filter((scene) => names.includes(scene))
}

function readSabotage(given: string | undefined): Sabotage | null {
  if (given === undefined) return null
  const found = SABOTAGES.find((sabotage) => sabotage === given)
  if (!found) throw new UsageError(`--sabotage must be one of ${SABOTAGES.join(', ')}, got ${given}`)
  return found
}
