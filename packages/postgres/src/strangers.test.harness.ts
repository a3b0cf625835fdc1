import { randomBytes } from 'node:crypto'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'

/** A database of one's own to which nobody but a superuser and the roles made here may connect. */
export interface GuardedDatabase extends AsyncDisposable {
  /** Connection string of a superuser. */
  readonly url: string
  /** For questions and grants. */
  readonly admin: pg.Client
  /** Makes a role that may log in and nothing else, or, with `mayConnect`, connect to this database. Returns its connection string. */
  newRole(options: { readonly mayConnect: boolean }): Promise<string>
}

export async function guardedDatabase(serverUrl: string): Promise<GuardedDatabase> {
  const database: TestDatabase = await createDatabase(serverUrl)
  const admin = new pg.Client(database.url)
  await admin.connect()
  await admin.query(`REVOKE ALL ON DATABASE ${pg.escapeIdentifier(database.name)} FROM PUBLIC`)
  await admin.query('REVOKE ALL ON SCHEMA public FROM PUBLIC')
  const roles: string[] = []
  return {
    url: database.url,
    admin,
    async newRole({ mayConnect }) {
      const role = `role_${randomBytes(6).toString('hex')}`
      const password = randomBytes(12).toString('hex')
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
      roles.push(role)
      if (mayConnect) await admin.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(database.name)} TO ${role}`)
      const url = new URL(database.url)
      url.username = role
      url.password = password
      return url.href
    },
    async [Symbol.asyncDispose]() {
      // Grants in the database go with it, so it comes first; roles belong to the server.
      await admin.end()
      await database.drop()
      const server = new pg.Client(serverUrl)
      await server.connect()
      for (const role of roles) await server.query(`DROP ROLE ${role}`)
      await server.end()
    },
  }
}
