import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestCounts } from './matrix-table.js'

/** The adapters, and a minute of chaos; examples, benches and what shows that the judges can fail use the server in no way that these do not. */
const FILES = ['packages/', 'tools/chaos/src/chaos.integration', 'tools/chaos/src/judge/']

/** How a run of the tests ended. */
export interface TestRun {
  /** `null` when there is no report. */
  readonly counts: TestCounts | null
  /** Why it is not to be trusted, although perhaps no test failed. */
  readonly problem: string | null
}

/** Runs the integration tests on the servers of the folder `binaries`, or on the bundled one. Prints as it goes. */
export async function runIntegrationTests(root: string, binaries: string | null, signal: AbortSignal): Promise<TestRun> {
  const place = await mkdtemp(join(tmpdir(), 'server-matrix-'))
  try {
    const report = join(place, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const { DATABASE_URL: _, TEST_SERVER_BINARIES: __, ...env } = process.env
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'integration', ...reporters, ...FILES], {
      cwd: root,
      env: binaries === null ? env : { ...env, TEST_SERVER_BINARIES: binaries },
      stdio: 'inherit',
      signal,
    })
    const ending = await new Promise<string | null>((resolve) => {
      let problem: string | null = null
      child.once('error', (error) => {
        problem = error.message
      })
      // Also after an interruption: vitest takes its servers down first.
      child.once('close', (status, killer) => resolve(problem ?? (status === 0 ? null : `vitest ended with ${killer ?? status}`)))
    })
    const counts = await readFile(report, 'utf8').then(readCounts, () => null)
    // The failed tests say it themselves.
    return { counts, problem: counts !== null && counts.failed > 0 ? null : ending }
  } finally {
    await rm(place, { recursive: true })
  }
}

/** The numbers in a JSON report of vitest. */
export function readCounts(text: string): TestCounts {
  const report = JSON.parse(text)
  return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests + report.numTodoTests }
}
