import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { type ProgramRun, type RunOptions, runProgram } from '../run-program.test.harness.js'

const SMALL = ['--events', '2000', '--batch', '25', '--work-ms', '10']
const LIMIT = { timeout: 90_000 }

let database: TestDatabase

beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
})

afterEach(() => database.drop())

function runDemo(args: readonly string[], options: RunOptions = {}): Promise<ProgramRun> {
  return runProgram('demo/main', { args: [...SMALL, ...args], env: { DATABASE_URL: database.url }, ...options })
}

function summaryOf({ stdout, report }: ProgramRun): Record<string, unknown> {
  const lastLine = stdout.trimEnd().split('\n').at(-1) ?? ''
  expect(lastLine, report).toMatch(/^\{.*\}$/)
  return JSON.parse(lastLine)
}

/** Nothing of a demo is left in the database: no schema, and no connection of a worker. */
async function leftovers(): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    const schemas = await client.query("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'coordination_demo_%'")
    const sessions = await client.query(
      'SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    return [...schemas.rows, ...sessions.rows]
  } finally {
    await client.end()
  }
}

test('the verdict holds, with three leaders killed at work, on a server of its own', LIMIT, async () => {
  const run = await runDemo([], { env: { DATABASE_URL: '' } })
  expect(run.status, run.report).toBe(0)
  expect(summaryOf(run), run.report).toMatchObject({
    demo: 'one-leader',
    ok: true,
    failed: [],
    events: 2000,
    read: 2000,
    lost: 0,
    appliedTwice: 0,
    wrongOrders: 0,
    kills: 3,
  })
})

test('it leaves nothing behind on the server of DATABASE_URL', LIMIT, async () => {
  const run = await runDemo(['--kills', '1'])
  expect(run.status, run.report).toBe(0)
  await expect.poll(leftovers).toEqual([])
})

describe('the verdict notices', () => {
  test.for([
    ['rewind', ['applied twice', 'read model equals the log']],
    ['skip', ['events read', 'lost', 'read model equals the log']],
    ['usurp', ['two leaders at one instant', 'tokens grow from term to term']],
  ] as const)('--sabotage %s', LIMIT, async ([sabotage, expected]) => {
    const run = await runDemo(['--sabotage', sabotage])
    expect(run.status, run.report).toBe(1)
    const summary = summaryOf(run)
    expect(summary, run.report).toMatchObject({ ok: false })
    expect(summary.failed, run.report).toEqual(expect.arrayContaining([...expected]))
  })

  test('a takeover that takes longer than it may', LIMIT, async () => {
    const run = await runDemo(['--takeover-seconds', '0'])
    expect(run.status, run.report).toBe(1)
    expect(summaryOf(run), run.report).toMatchObject({ ok: false, failed: ['takeover in time'], lost: 0, appliedTwice: 0 })
  })
})

test('a worker that dies unasked fails the demo, and its error is shown', LIMIT, async () => {
  const run = await runDemo(['--sabotage', 'crash'])
  expect(run.status, run.report).toBe(1)
  expect(run.stdout, run.report).toContain('Sabotage: this worker crashes as soon as it leads')
  expect(summaryOf(run), run.report).toMatchObject({ ok: false, error: expect.stringContaining('nobody had asked for that') })
  await expect.poll(leftovers).toEqual([])
})

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends it in order, with no process left', LIMIT, async ([signal, status]) => {
  let isSent = false
  const run = await runDemo([], {
    env: { DATABASE_URL: database.url },
    onOutput(stdout, send) {
      if (!isSent && stdout.includes('KILL 1')) send(signal)
      isSent ||= stdout.includes('KILL 1')
    },
  })
  expect(run.status, run.report).toBe(status)
  expect(summaryOf(run), run.report).toEqual({ demo: 'one-leader', ok: false, error: `interrupted by ${signal}` })
  await expect.poll(leftovers).toEqual([])
})

test('SIGKILL leaves no worker behind either', LIMIT, async () => {
  await runDemo([], {
    env: { DATABASE_URL: database.url },
    onOutput(stdout, send) {
      if (stdout.includes('KILL 1')) send('SIGKILL')
    },
  })
  await expect.poll(async () => (await leftovers()).length, { timeout: 10_000 }).toBeLessThanOrEqual(1)
  const [schema] = (await leftovers()) as { name: string }[]
  expect(schema?.name).toMatch(/^coordination_demo_/)
})

test('wrong arguments are explained', async () => {
  const run = await runDemo(['--workers', 'many'])
  expect(run.status, run.report).toBe(2)
  expect(run.stderr).toContain('--workers must be a whole number of at least 2, got many')
})
