import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@es/coordination-testing'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { readResults } from './results-file.js'

const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const LIMIT = { timeout: 120_000 }

let database: TestDatabase
let folder: string
let program: ChildProcess | undefined

beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
  folder = await mkdtemp(join(tmpdir(), 'bench-test-'))
})

afterEach(async () => {
  program?.kill('SIGKILL')
  await database.drop()
  await rm(folder, { recursive: true })
})

interface Run {
  readonly child: ChildProcess
  readonly output: () => string
  readonly ended: Promise<unknown[]>
}

/** Runs the command on the shared server; every process that comes of it has the folder of this test in its environment. */
function run(...args: string[]): Run {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--json', join(folder, 'results.json')], {
    env: { ...process.env, DATABASE_URL: database.url, BENCH_TEST: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  program = child
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { child, output: () => output, ended: once(child, 'close') }
}

function processesLeft(): string[] {
  const isOurs = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`BENCH_TEST=${folder}`)
    } catch {
      // It has ended, or is somebody else's.
      return false
    }
  }
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isOurs(name))
}

async function databasesLeft(): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  try {
    return (await client.query("SELECT datname FROM pg_database WHERE datname LIKE '%\\_bench\\_%'")).rows
  } finally {
    await client.end()
  }
}

it('measures a row against the server, and writes a table and the results', LIMIT, async () => {
  const { output, ended } = run('ownership/claim-1000')
  expect(await ended, output()).toEqual([0, null])
  expect(output()).toContain('| `claim` of 1,000 subscriptions |')
  const { machine, rows } = await readResults(join(folder, 'results.json'))
  expect(machine.node).toBe(process.versions.node)
  expect(rows).toMatchObject([{ name: 'ownership/claim-1000', unit: 'duration', measured: { count: 60 }, beside: { count: 60 } }])
  expect(rows[0]?.verdicts).toContainEqual({ text: 'one statement', isMet: true })
  expect(rows[0]?.steadyRatios).toEqual([expect.any(Number)])
  expect(await databasesLeft()).toEqual([])
})

it('names what there is when asked for something else', LIMIT, async () => {
  const { output, ended } = run('nothing')
  expect(await ended).toEqual([2, null])
  expect(output()).toContain('There is no benchmark nothing. There are:\nmessages\nmessages/decode\n')
})

it.runIf(process.platform === 'linux')('leaves nothing behind when it is interrupted (needs /proc)', LIMIT, async () => {
  const { child, output, ended } = run('handover')
  await until(() => processesLeft().length >= 4, { what: 'processes of the candidates', withinSeconds: 60 })
  child.kill('SIGINT')
  expect(await ended, output()).toEqual([null, 'SIGINT'])
  // It did not just wait for the row to be done.
  expect(output()).not.toContain('handover/release')
  expect(processesLeft()).toEqual([])
  expect(await databasesLeft()).toEqual([])
})
