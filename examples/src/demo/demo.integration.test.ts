import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { type ProgramRun, type RunOptions, runProgram } from '../run-program.test.harness.js'

const QUICK = ['--calm', '0.5']
const LIMIT = { timeout: 120_000 }

let database: TestDatabase
let folder: string

beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
  folder = await mkdtemp(join(tmpdir(), 'demo-test-'))
})

afterEach(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

function runDemo(args: readonly string[], options: RunOptions = {}): Promise<ProgramRun> {
  return runProgram('demo/main', {
    args: [...QUICK, '--timeline', join(folder, 'timeline.html'), ...args],
    env: { DATABASE_URL: database.url },
    ...options,
  })
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

test('the verdict holds, through all faults, on a server of its own', LIMIT, async () => {
  const run = await runDemo([], { env: { DATABASE_URL: '' } })
  expect(run.status, run.report).toBe(0)
  const summary = summaryOf(run)
  expect(summary, run.report).toMatchObject({
    ...{ demo: 'shared-subscriptions', ok: true, failed: [], subscriptions: 12, lost: 0, appliedTwice: 0, wrongRows: 0, fewestStarts: 66 },
    phases: ['start', 'scale', 'kill', 'comeback', 'pause', 'wake', 'rolling', 'database', 'finish'].map((kind) => ({ kind })),
    timeline: join(folder, 'timeline.html'),
  })
  expect(summary.read, run.report).toBe(12 * Number(summary.events))
  const page = await readFile(join(folder, 'timeline.html'), 'utf8')
  expect(page).toContain('The verdict holds')
  expect(page).not.toMatch(/NaN|undefined/)
})

test('it leaves nothing behind on the server of DATABASE_URL, and does not restart it', LIMIT, async () => {
  const run = await runDemo(['--scenes', 'kill,database'])
  expect(run.status, run.report).toBe(0)
  expect(run.stdout, run.report).toContain('The server of DATABASE_URL is not restarted')
  await expect.poll(leftovers).toEqual([])
})

describe('the verdict notices', () => {
  test.for([
    ['rewind', 'scale', ['events applied twice', 'read models equal the log']],
    ['skip', 'scale', ['events read', 'events lost', 'read models equal the log']],
    ['ignore-token', 'pause', ['events applied twice', 'events applied out of order', 'read models equal the log']],
    ['usurp', 'scale', ['two owners at one instant', 'writes of a stale owner']],
  ] as const)('--sabotage %s', LIMIT, async ([sabotage, scene, expected]) => {
    const run = await runDemo(['--sabotage', sabotage, '--scenes', scene])
    expect(run.status, run.report).toBe(1)
    const summary = summaryOf(run)
    expect(summary, run.report).toMatchObject({ ok: false })
    expect(summary.failed, run.report).toEqual(expect.arrayContaining([...expected]))
    expect(await readFile(join(folder, 'timeline.html'), 'utf8')).toContain('The verdict does not hold')
  })

  test('a gap that is longer than it may be', LIMIT, async () => {
    const run = await runDemo(['--tolerance', '0', '--scenes', 'kill'])
    expect(run.status, run.report).toBe(1)
    expect(summaryOf(run), run.report).toMatchObject({
      ...{ ok: false, failed: ['every subscription owned again in time'], lost: 0, appliedTwice: 0 },
    })
  })
})

test('a worker that dies unasked fails the demo, and its error is shown', LIMIT, async () => {
  const run = await runDemo(['--sabotage', 'crash', '--scenes', 'scale'])
  expect(run.status, run.report).toBe(1)
  expect(run.stdout, run.report).toContain('Sabotage: this worker crashes as soon as it works')
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
      if (!isSent && stdout.includes('SIGKILL for')) send(signal)
      isSent ||= stdout.includes('SIGKILL for')
    },
  })
  expect(run.status, run.report).toBe(status)
  expect(summaryOf(run), run.report).toEqual({ demo: 'shared-subscriptions', ok: false, error: `interrupted by ${signal}` })
  await expect.poll(leftovers).toEqual([])
})

test('SIGKILL leaves no worker behind either', LIMIT, async () => {
  await runDemo([], {
    env: { DATABASE_URL: database.url },
    onOutput(stdout, send) {
      if (stdout.includes('SIGKILL for')) send('SIGKILL')
    },
  })
  await expect.poll(async () => (await leftovers()).length, { timeout: 10_000 }).toBeLessThanOrEqual(1)
  const [schema] = (await leftovers()) as { name: string }[]
  expect(schema?.name).toMatch(/^coordination_demo_/)
})

test('wrong arguments are explained', async () => {
  const run = await runDemo(['--batch', 'many'])
  expect(run.status, run.report).toBe(2)
  expect(run.stderr).toContain('--batch must be a whole number of at least 1, got many')
})
