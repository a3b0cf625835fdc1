import pg from 'pg'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { sharedServer } from './shared-server.js'
import { createDatabase } from './test-database.js'

async function databaseNames(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database')
  await client.end()
  return rows.map((row) => row.datname)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

it('uses the server of DATABASE_URL, in a database of its own that stop removes', async () => {
  vi.stubEnv('DATABASE_URL', inject('databaseUrl'))
  const server = await sharedServer()
  const name = new URL(server.url).pathname.slice(1)
  expect(await databaseNames(server.url)).toContain(name)
  await expect(server.restart('fast')).rejects.toThrow('DATABASE_URL')
  await server.stop()
  await server.stop()
  expect(await databaseNames(inject('databaseUrl'))).not.toContain(name)
})

it('uses the given database when the user may not make one', async () => {
  await using database = await createDatabase(inject('databaseUrl'))
  const role = database.name
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'plain'`)
  try {
    const url = new URL(database.url)
    url.username = role
    url.password = 'plain'
    vi.stubEnv('DATABASE_URL', url.href)
    const server = await sharedServer()
    expect(server.url).toBe(url.href)
    await server.stop()
    expect(await databaseNames(inject('databaseUrl'))).toContain(database.name)
  } finally {
    await admin.query(`DROP ROLE ${role}`)
    await admin.end()
  }
})

it('names DATABASE_URL when nothing answers there', async () => {
  vi.stubEnv('DATABASE_URL', 'postgresql://postgres@127.0.0.1:1/none')
  await expect(sharedServer()).rejects.toThrow(/DATABASE_URL.*ECONNREFUSED/)
})
