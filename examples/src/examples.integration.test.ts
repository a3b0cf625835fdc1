import { readdirSync } from 'node:fs'
import { expect, inject, test } from 'vitest'
import { runProgram } from './run-program.test.harness.js'

// Read from the directory, so that no example can be forgotten.
const examples = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
  .map((file) => file.slice(0, -'.ts'.length))

/** Environments in which an example runs besides the plain one. */
const VARIANTS: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  'swap-the-adapter': [{ ELECTOR: 'memory' }, { ELECTOR: 'postgres' }],
}

const runs = examples.flatMap((name) =>
  (VARIANTS[name] ?? [{}]).map((env) => [[name, ...Object.values(env)].join(' '), name, env] as const),
)

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(0)
  expect(examples).toEqual(expect.arrayContaining(Object.keys(VARIANTS)))
})

test.for(runs)('%s', { timeout: 60_000 }, async ([, name, env]) => {
  const run = await runProgram(name, { env: { DATABASE_URL: inject('databaseUrl'), ...env } })
  expect(run.status, run.report).toBe(0)
})

test('an example starts a server itself where there is none', { timeout: 60_000 }, async () => {
  const run = await runProgram('elect-a-leader-in-postgres', { env: { DATABASE_URL: '' } })
  expect(run.status, run.report).toBe(0)
})

test('an example that fails ends with a status other than 0', async () => {
  const run = await runProgram('swap-the-adapter', { env: { ELECTOR: 'paper' } })
  expect(run.status, run.report).not.toBe(0)
  expect(run.stderr).toContain('ELECTOR must be memory or postgres, got paper')
})
