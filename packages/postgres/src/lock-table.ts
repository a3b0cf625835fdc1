import { ConnectionError } from '@es/coordination-core'
import type { Row } from './pg-session.js'

const ADVICE =
  'It is shared by all sessions of the server, whose queries fail when it is full: raise max_locks_per_transaction (needs a restart)'

/** Whether a statement failed because the lock table was full. SQLSTATE 53200 is shared memory; all that our statements take of it is locks. */
export function isOutOfLocks(error: unknown): boolean {
  return error instanceof Error && !(error instanceof ConnectionError) && (error as { code?: unknown }).code === '53200'
}

/** The refusal of a batch of locks; `what` tells the numbers. */
export function lockTableFull(what: string, cause?: unknown): ConnectionError {
  return new ConnectionError('lock_table_full', `The lock table of the server is too full: ${what}. ${ADVICE}`, { cause })
}

/** The numbers in a row of `TRY_LOCK_WITHIN`. */
export function describeLockTable(row: Row, wanted: number): string {
  const size = `${row.capacity} entries (max_locks_per_transaction = ${row.locks_per_transaction})`
  return `${row.present} of about ${size} are taken, and ${wanted} more would exceed the allowed share of ${row.table_share}`
}
