import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

// A project with the configuration and the one file under test, because what biome says about its standard input is only that
// something is wrong.
const project = mkdtempSync(join(tmpdir(), 'lint-rule-'))
for (const file of ['biome.json', '.gitignore', 'scripts/no-machine-time.grit']) cpSync(join(root, file), join(project, file))
afterAll(() => rmSync(project, { recursive: true }))

/** What the linter reports about `text` as the file `path`: the names of the rules, sorted. */
function rulesBroken(path, text) {
  const file = join(project, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  const { stdout, stderr, status } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--reporter=github', path], {
    cwd: project,
    encoding: 'utf8',
  })
  rmSync(file)
  const rules = [...stdout.matchAll(/^::error title=([^,]+)/gm)].map(([, rule]) => rule).sort()
  // A broken configuration or plugin must not pass for a report, nor a report for silence.
  if ((status === 0) !== (rules.length === 0) || !rules.every((rule) => /^(lint\/.+|plugin)$/.test(rule))) throw new Error(stdout + stderr)
  return rules
}

const GLOBALS = 'lint/style/noRestrictedGlobals'
const IMPORTS = 'lint/style/noRestrictedImports'
const PLUGIN = 'plugin'

describe('core takes time, randomness and logging from outside', () => {
  const path = 'packages/core/src/anything.ts'

  it.each([
    ['export const x = setTimeout(() => {}, 1)', GLOBALS],
    ['export const x = setInterval(() => {}, 1)', GLOBALS],
    ['export const x = setImmediate(() => {})', GLOBALS],
    ['queueMicrotask(() => {})', GLOBALS],
    ['export const x = globalThis.setTimeout', GLOBALS],
    ['export const x = performance.now()', GLOBALS],
    ['export const x = crypto.randomUUID()', GLOBALS],
    ['export const x = process.env.HOME', GLOBALS],
    ["export const x = Buffer.from('')", GLOBALS],
    ["export const x = require('pg')", GLOBALS],
    ["export const x = fetch('')", GLOBALS],
    ["console.log('')", 'lint/suspicious/noConsole'],
    ['export const x = Date.now()', PLUGIN],
    ['export const x = Date.now', PLUGIN],
    ["export const x = Date['now']()", PLUGIN],
    ['export const x = new Date()', PLUGIN],
    ['export const x = new Date', PLUGIN],
    ['export const x = Date()', PLUGIN],
    ['export const { now } = Date', PLUGIN],
    ['export const { max, random } = Math', PLUGIN],
    ['export const x = Math.random()', PLUGIN],
    ["export const x = Math['random']()", PLUGIN],
    ['export const x = AbortSignal.timeout(1)', PLUGIN],
    ["import { join } from 'node:path'\nexport const x = join", IMPORTS],
    ["import { join } from 'path'\nexport const x = join", IMPORTS],
    ["import type { Stats } from 'node:fs'\nexport type X = Stats", IMPORTS],
    ["export { join } from 'node:path'", IMPORTS],
    ["export const x = await import('node:path')", IMPORTS],
    ["import pg from 'pg'\nexport const x = pg", IMPORTS],
    ["import { x } from '@es/coordination-memory'\nexport const y = x", IMPORTS],
    ["import { x } from './index.js'\nexport const y = x", IMPORTS],
    ["import { x } from '../index.js'\nexport const y = x", IMPORTS],
  ])('reports %j', (text, rule) => {
    expect(rulesBroken(path, `${text}\n`)).toContain(rule)
  })

  it('lets through the type Date, dates made of something, arithmetic, signals, zod and its own files', () => {
    const text = `
      import { z } from 'zod'
      import { Leadership } from './leadership.js'
      export const later = (date: Date, ms: number): Date => new Date(date.getTime() + Math.max(ms, Date.UTC(2000, 0)))
      export const parsed = [new Date('2000-01-01'), Date.parse('2000-01-01'), new Date(Number.NaN)]
      export const either = (...signals: AbortSignal[]): AbortSignal => AbortSignal.any(signals)
      export const shape = z.object({ at: z.date() })
      export const leadership = new Leadership({ identity: 'a' })
    `
    expect(rulesBroken(path, text)).toEqual([])
  })

  it('has two doors, each open for its own purpose only', () => {
    const clock = 'export const x = [new Date(), performance.now(), setTimeout(() => {}, 1), clearTimeout]\n'
    expect(rulesBroken('packages/core/src/clock.ts', clock)).toEqual([])
    expect(rulesBroken('packages/core/src/logger.ts', clock)).toEqual([GLOBALS, GLOBALS, GLOBALS, PLUGIN])

    const logger = "console.warn('')\n"
    expect(rulesBroken('packages/core/src/logger.ts', logger)).toEqual([])
    expect(rulesBroken('packages/core/src/clock.ts', logger)).toEqual([GLOBALS, 'lint/suspicious/noConsole'])

    const imports = "export { join } from 'node:path'\n"
    expect(rulesBroken('packages/core/src/clock.ts', imports)).toContain(IMPORTS)
    expect(rulesBroken('packages/core/src/logger.ts', imports)).toContain(IMPORTS)
  })

  it('does not bind its tests', () => {
    const text = "import { hrtime } from 'node:process'\nexport const x = [Date.now(), hrtime, setTimeout(() => {}, 1)]\n"
    expect(rulesBroken('packages/core/src/anything.test.ts', text)).toEqual([])
  })

  it('is nowhere suppressed', () => {
    const folder = `${root}packages/core/src/`
    const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    expect(files.filter((file) => readFileSync(folder + file, 'utf8').includes('biome-ignore'))).toEqual([])
  })
})

describe('packages know contracts, not each other', () => {
  const core = "export { sleep } from '@es/coordination-core'\n"
  const own = "export { a } from './a.js'\nexport { b } from '../b.js'\n"
  const node = "export { join } from 'node:path'\nexport { setTimeout } from 'node:timers/promises'\n"
  const adapter = "export { x } from '@es/coordination-memory'\n"
  const driver = "export { default as pg } from 'pg'\n"
  const generator = "export { fc } from 'fast-check'\n"
  const index = "export { x } from './index.js'\n"

  it.each([
    { folder: 'worker', allowed: core + own + node, forbidden: [adapter, driver, index, generator] },
    { folder: 'testing', allowed: core + own + node + generator, forbidden: [adapter, driver, index, "export { it } from 'vitest'\n"] },
    { folder: 'memory', allowed: core + own + node, forbidden: [driver, index, "export { x } from '@es/coordination-postgres'\n"] },
    { folder: 'postgres', allowed: core + own + node + driver, forbidden: [adapter, index] },
  ])('$folder', ({ folder, allowed, forbidden }) => {
    const path = `packages/${folder}/src/anything.ts`
    expect(rulesBroken(path, allowed)).toEqual([])
    for (const text of forbidden) expect(rulesBroken(path, text)).toEqual([IMPORTS])
  })
})

describe('house rules', () => {
  it.each([
    ['export default 1', 'lint/style/noDefaultExport'],
    ['export enum Color { Red }', 'lint/style/noEnum'],
    ["export * from './a.js'", 'lint/performance/noReExportAll'],
    ['export const x = (y: string | null): string => y!', 'lint/style/noNonNullAssertion'],
    ['console.log(1)', 'lint/suspicious/noConsole'],
    ['const unused = 1', 'lint/correctness/noUnusedVariables'],
    ['export const f = async (): Promise<void> => {}\nf()', 'lint/nursery/noFloatingPromises'],
  ])('reports %j in a package', (text, rule) => {
    expect(rulesBroken('packages/memory/src/anything.ts', `${text}\n`)).toContain(rule)
  })
})
