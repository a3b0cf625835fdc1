import type { MatrixVersion } from './matrix-versions.js'

/** How the tests went. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** What became of one version. */
export interface MatrixResult {
  readonly version: MatrixVersion
  /** What the server itself says it is; `null` when it could not be asked. */
  readonly serverVersion: string | null
  /** `null` where no tests ran: because the server is too old, or because of a problem. */
  readonly counts: TestCounts | null
  readonly seconds: number
  /** What went wrong other than a test, in one line; `null` for nothing. */
  readonly problem: string | null
}

/** What is wrong with a result, `null` when it is fine. A version that did not run is not fine. */
export function faultOf({ version, serverVersion, counts, problem }: MatrixResult): string | null {
  if (problem !== null) return problem
  if (serverVersion === null || Number.parseInt(serverVersion, 10) !== version.major) return `the server says that it is ${serverVersion}`
  if (!version.isSupported) return null
  if (counts === null || counts.passed === 0) return 'no test ran'
  return counts.failed > 0 ? `${counts.failed} failed` : null
}

const HEAD = ['version', 'server', 'passed', 'failed', 'skipped', 'seconds', 'verdict']

/** The results as a table, one line each. */
export function matrixTable(results: readonly MatrixResult[]): string {
  const rows = results.map((result) => {
    const { version, serverVersion, counts, seconds } = result
    const fine = version.isSupported ? 'ok' : 'ok: too old, and refused'
    const fault = faultOf(result)
    return [
      String(version.major),
      serverVersion ?? '-',
      ...[counts?.passed, counts?.failed, counts?.skipped].map((count) => String(count ?? '-')),
      seconds.toFixed(0),
      fault === null ? fine : `FAILED: ${fault}`,
    ]
  })
  const table = [HEAD, ...rows]
  const widths = HEAD.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)))
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
