import { parseArgs } from 'node:util'
import type { FaultFamily } from '@es/coordination-testing'

/** What `pnpm soak` was asked to do. */
export interface SoakOptions {
  /** How many scenarios to try. */
  readonly scenarios: number
  /** Which ones: the same seed makes the same scenarios. */
  readonly seed: number
  /** One scenario of the seed to try again; `null` to search. */
  readonly path: string | null
  /** Stop after so long. */
  readonly minutes: number | null
  readonly family: FaultFamily | null
  readonly backend: 'locks' | 'memory'
}

export const USAGE = `Usage: pnpm soak [--seeds N] [--seed S] [--path P] [--minutes M] [--family claims|repeating_bus|cut_bus] [--backend locks|memory]

  --seeds N     how many scenarios to simulate (2000)
  --seed S      which ones: the same seed makes the same scenarios (1)
  --path P      only the one scenario that a failure named, with its seed
  --minutes M   as many scenarios as fit into M minutes, instead of a number
  --family F    only faults of one family
  --backend B   the simulated lock server (locks), or the in-memory adapters (memory)`

const FAMILIES = ['claims', 'repeating_bus', 'cut_bus'] as const
const BACKENDS = ['locks', 'memory'] as const

/** @throws Error with a sentence that says what is wrong with an argument. */
export function parseSoakOptions(args: readonly string[]): SoakOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { seeds: text, seed: text, path: text, minutes: text, family: text, backend: text },
  })
  const { path = null } = values
  if (path !== null && !/^\d+(:\d+)*$/.test(path))
    throw new Error(`--path must be numbers with colons between, as a failure names them, got ${path}`)
  if (path !== null && values.seed === undefined) throw new Error('--path needs the --seed that it belongs to')
  if (values.seeds !== undefined && values.minutes !== undefined) throw new Error('--seeds and --minutes exclude each other')
  return {
    path,
    scenarios: values.seeds === undefined ? 2000 : number('seeds', values.seeds, { atLeast: 1, isInteger: true }),
    seed: values.seed === undefined ? 1 : number('seed', values.seed, { atLeast: 0, isInteger: true }),
    minutes: values.minutes === undefined ? null : number('minutes', values.minutes, { atLeast: 0.01, isInteger: false }),
    family: values.family === undefined ? null : choice('family', values.family, FAMILIES),
    backend: values.backend === undefined ? 'locks' : choice('backend', values.backend, BACKENDS),
  }
}

function number(name: string, text: string, { atLeast, isInteger }: { readonly atLeast: number; readonly isInteger: boolean }): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!(Number.isFinite(value) && value >= atLeast && value < 2 ** 31) || (isInteger && !Number.isInteger(value)))
    throw new Error(`--${name} must be ${isInteger ? 'a whole number' : 'a number'} of at least ${atLeast}, got ${text}`)
  return value
}

function choice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((each) => each === text)
  if (found === undefined) throw new Error(`--${name} must be one of ${choices.join(', ')}, got ${text}`)
  return found
}
