import { readFile, writeFile } from 'node:fs/promises'
import type { Machine } from './machine.js'
import type { RowResult } from './row-result.js'

/** Everything that was measured in one go. */
export interface Results {
  readonly machine: Machine
  readonly rows: readonly RowResult[]
}

export async function writeResults(file: string, results: Results): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`)
}

/** @throws Error that says how to make one, when there is none or it is no results file. */
export async function readResults(file: string): Promise<Results> {
  try {
    const results: Partial<Results> = JSON.parse(await readFile(file, 'utf8'))
    if (results.machine === undefined || !Array.isArray(results.rows)) throw new Error('it has no rows')
    return results as Results
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}. "pnpm bench --record" makes it.`, { cause })
  }
}
