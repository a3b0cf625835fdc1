import pg from 'pg'
import { hostSeconds } from '../host-seconds.js'
import type { UsageReport } from './worker-messages.js'

let statements = 0

/** Counts, from now on, every statement that this process sends. */
export function countStatements(): void {
  const { prototype } = pg.Client
  const query = prototype.query
  // Declared with a dozen overloads, of which none is of interest here.
  Reflect.set(prototype, 'query', function counted(this: pg.Client, ...args: unknown[]) {
    statements++
    return Reflect.apply(query, this, args)
  })
}

/** What this process has used up so far. */
export function usage(): UsageReport {
  const { user, system } = process.cpuUsage()
  return { type: 'usage', at: hostSeconds(), cpuSeconds: (user + system) / 1e6, statements }
}
