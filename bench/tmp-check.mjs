import { startTestServer } from '@es/test-server'
import pg from 'pg'
import { CHECK } from '../packages/postgres/dist/statements.js'
const server = await startTestServer({})
const c = new pg.Client(server.url); await c.connect()
await c.query('select pg_advisory_lock(123456789012345)')
const KEY = '((l.classid::bigint << 32) | l.objid::bigint)'
const OWN = CHECK.text.split('WHERE ')[1]
console.log(OWN)
const S = {
  one: { name: 'one', text: 'SELECT 1' },
  check: { name: 'c', text: CHECK.text },
  xor: { name: 'x', text: `SELECT pg_is_in_recovery() AS is_standby, count(*)::int AS locks, bit_xor(${KEY}) AS checksum FROM pg_locks AS l WHERE ${OWN}` },
  fn: { name: 'f', text: `SELECT pg_is_in_recovery() AS is_standby, count(*)::int AS locks, bit_xor(${KEY}) AS checksum FROM pg_lock_status() AS l WHERE ${OWN}` },
  bare: { name: 'b', text: `SELECT count(*)::int AS locks FROM pg_lock_status() AS l` },
  rec: { name: 'r', text: `SELECT pg_is_in_recovery() AS is_standby` },
}
const t = {}
for (let r = 0; r < 40; r++) for (const [k, q] of Object.entries(S)) {
  const a = process.hrtime.bigint()
  for (let i = 0; i < 40; i++) await c.query(q)
  ;(t[k] ??= []).push(Number(process.hrtime.bigint() - a) / 40000)
}
for (const k in t) { t[k].sort((a, b) => a - b); console.log(k, t[k][20].toFixed(1), (t[k][20] / t.one[20]).toFixed(2)) }
await c.end(); await server.stop()
