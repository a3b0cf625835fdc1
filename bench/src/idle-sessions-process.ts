// The least that anybody who watches a lock table does: two connections, and a bare statement twice a second. Argument: the connection string.
import pg from 'pg'
import { endWithParent } from './processes/end-with-parent.js'
import { countStatements, usage } from './workers/usage.js'

const POLL_MS = 500

const connectionString = process.argv[2]
const clients = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
countStatements()
for (const client of clients) {
  client.on('error', () => {})
  await client.connect()
}
setInterval(() => void clients[0]?.query({ name: 'poll', text: 'SELECT 1' }), POLL_MS)
endWithParent()
process.on('message', () => process.send?.(usage()))
