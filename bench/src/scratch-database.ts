import { randomBytes } from 'node:crypto'
import { createDatabase, type TestDatabase } from '@es/test-server'

/** An empty database beside the one of `databaseUrl`, whose name it begins with, so that it is found and dropped even if the benchmark is interrupted. */
export function scratchDatabase(databaseUrl: string): Promise<TestDatabase> {
  const beside = decodeURIComponent(new URL(databaseUrl).pathname.slice(1))
  return createDatabase(databaseUrl, `${beside}_bench_${randomBytes(6).toString('hex')}`)
}
