// `npm run test:matrix [VERSION...]`: the integration tests on every supported PostgreSQL, and the refusal of one that is too old.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTestServer } from '@es/test-server'
import pg from 'pg'
import { runIntegrationTests } from './integration-tests.js'
import { faultOf, type MatrixResult, matrixTable } from './matrix-table.js'
import { type MatrixVersion, matrixVersions, USAGE } from './matrix-versions.js'
import { unrefusedBy } from './too-old-server.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const servers = fileURLToPath(new URL('../servers', import.meta.url))

async function serverVersionAt(url: string): Promise<string> {
  const client = new pg.Client(url)
  try {
    await client.connect()
    const { rows } = await client.query('SHOW server_version')
    return rows[0].server_version
  } finally {
    await client.end()
  }
}

async function runVersion(version: MatrixVersion, signal: AbortSignal): Promise<MatrixResult> {
  const startedAt = performance.now()
  const binaries = version.alias === null ? null : join(servers, 'node_modules', version.alias, 'native')
  let serverVersion: string | null = null
  const result = (counts: MatrixResult['counts'], problem: string | null): MatrixResult => {
    return { version, serverVersion, counts, seconds: (performance.now() - startedAt) / 1000, problem }
  }
  try {
    await using server = await startTestServer({ binaries })
    serverVersion = await serverVersionAt(server.url)
    process.stdout.write(`\n=== PostgreSQL ${serverVersion}\n\n`)
    if (!version.isSupported) return result(null, await unrefusedBy(server.url))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return result(null, 'no server, see above')
  }
  const { counts, problem } = await runIntegrationTests(root, binaries, signal)
  return result(counts, problem)
}

async function main(): Promise<number> {
  const names = process.argv.slice(2)
  if (names.includes('--help')) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  let versions: readonly MatrixVersion[]
  try {
    versions = matrixVersions(names, `${process.platform}-${process.arch}`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return 2
  }
  if (versions.some(({ alias }) => alias !== null)) {
    const { status } = spawnSync(process.execPath, [join(servers, 'install.mjs')], { stdio: 'inherit' })
    if (status !== 0) return 1
  }
  const interrupt = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupt.abort())
  const results: MatrixResult[] = []
  for (const version of versions) {
    if (interrupt.signal.aborted) break
    results.push(await runVersion(version, interrupt.signal))
  }
  process.stdout.write(`\n${matrixTable(results)}\n`)
  if (interrupt.signal.aborted) process.stderr.write('Interrupted\n')
  return !interrupt.signal.aborted && results.every((result) => faultOf(result) === null) ? 0 : 1
}

process.exitCode = await main()
