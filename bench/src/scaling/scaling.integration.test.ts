import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const LIMIT = { timeout: 120_000 }
const run = promisify(execFile)

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scaling-test-'))
})

afterEach(() => rm(folder, { recursive: true }))

it('measures the smallest cluster, and prints and writes what it found', LIMIT, async () => {
  const file = join(folder, 'results.json')
  const { stdout } = await run(process.execPath, [
    ...[PROGRAM, 'scaling', '--largest', '10', '--most-subscriptions', '10', '--simulated', '--json', file],
  ])
  expect(stdout).toContain('ok    10 instances, 10 subscriptions\n')
  expect(stdout).toContain('### Until the assignment is stable')
  const { cells, server } = JSON.parse(await readFile(file, 'utf8'))
  expect(server).toBeNull()
  expect(cells).toHaveLength(1)
  const [{ cell, figures }] = cells
  expect(cell).toEqual({ instances: 10, subscriptions: 10, hearing: 'all' })
  // Ten heartbeats every five seconds and ten assignments every fifteen, each of which ten hear.
  expect(figures.steady.published).toBeCloseTo(10 / 5 + 10 / 15)
  expect(figures.steady.delivered).toBeCloseTo(10 * figures.steady.published)
  expect(figures.stable.crash).toBeGreaterThan(0.5)
  expect(figures.stable.crash).toBeLessThan(4)
  for (const { cpuSeconds } of [figures.follower, figures.leader]) {
    expect(cpuSeconds).toBeGreaterThan(0)
  }
})

it('names its options when it is asked for something else', LIMIT, async () => {
  await expect(run(process.execPath, [PROGRAM, 'scaling', '--smallest'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Usage: pnpm bench scaling'),
  })
})
