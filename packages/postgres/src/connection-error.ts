import { ConnectionError, errorMessage } from '@es/coordination-core'
import type { Pooler } from './session-settings.js'

/** Server errors by SQLSTATE that deserve a message of their own; any other failure to connect is `unreachable`. */
const REFUSALS: Readonly<Record<string, { readonly code: string; readonly advice: string }>> = {
  '28P01': { code: 'authentication_failed', advice: 'check the user and the password' },
  '28000': { code: 'authentication_failed', advice: 'check the user, and that pg_hba.conf lets it in from here' },
  '3D000': { code: 'authentication_failed', advice: 'check the name of the database' },
  '42501': { code: 'authentication_failed', advice: 'grant the user CONNECT on the database' },
  '42704': { code: 'unsupported_server', advice: 'the lease needs PostgreSQL 14 or later, which has idle_session_timeout' },
  '53300': { code: 'unreachable', advice: 'the server has no free connection; raise max_connections or close some' },
  '57P03': { code: 'unreachable', advice: 'the server is starting, stopping or recovering; it is tried again' },
}

const POOLER_ADVICE =
  "a pooler such as PgBouncer stands in between and does not pass session settings on. Advisory locks and LISTEN belong to one server session, so connect to the server directly; or, if the pooler is in session mode, set pooler: 'session'"

const SESSION_POOLER_ADVICE =
  'It must give each connection a server session of its own and clean that up afterwards (PgBouncer: pool_mode = session, server_reset_query = DISCARD ALL); otherwise connect to the server directly'

/** The refusal of a pooler between this client and the server. */
export function poolerRefusal(server: string, cause?: unknown): ConnectionError {
  return new ConnectionError('transaction_pooler', `${server} cannot be used: ${POOLER_ADVICE}`, { cause })
}

/** The refusal of a pooler that is no session pooler although the user says so; `found` is what tells. */
export function unfitPooler(server: string, found: string): ConnectionError {
  return new ConnectionError('transaction_pooler', `The pooler at ${server} cannot be used: ${found}. ${SESSION_POOLER_ADVICE}`)
}

/** What went wrong while connecting to `server`, in the user's words. */
export function connectError(server: string, error: unknown, pooler: Pooler = 'none'): ConnectionError {
  if (error instanceof ConnectionError) return pooler === 'session' && error.code === 'timed_out' ? poolTimeout(error) : error
  const sqlState = String((error as { code?: unknown } | null)?.code)
  const text = errorMessage(error)
  // PgBouncer names the startup parameter that it refuses; a server never refuses `options` as such.
  if (/unsupported startup parameter/i.test(text)) {
    return pooler === 'none' ? poolerRefusal(server, error) : settingsRefused(server, text, error)
  }
  // The driver itself says so, without an SQLSTATE, when the server asks for a password and there is none.
  if (sqlState === '42704' && !text.includes('idle_session_timeout')) {
    return settingsRefused(server, text, error)
  }
  const refusal = REFUSALS[/password must be/i.test(text) ? '28P01' : sqlState]
  if (refusal) return new ConnectionError(refusal.code, `${server} refused the connection (${text}): ${refusal.advice}`, { cause: error })
  return new ConnectionError('unreachable', `${server} could not be reached: ${text || sqlState}`, { cause: error })
}

function settingsRefused(server: string, text: string, cause: unknown): ConnectionError {
  return new ConnectionError('settings_refused', `${server} refused the options of the connection (${text}): correct or remove them`, {
    cause,
  })
}

/** A client that waits for a free server session in the pooler's queue is not told so. */
function poolTimeout(error: ConnectionError): ConnectionError {
  const advice =
    'If its pool has no free server session, enlarge it (PgBouncer: default_pool_size): a connection takes two while it is opened'
  return new ConnectionError('timed_out', `${error.message}. There is a pooler in between. ${advice}`, { cause: error })
}

/** Refusals that waiting does not mend. */
const LASTING: ReadonlySet<string> = new Set(['authentication_failed', 'unsupported_server', 'transaction_pooler', 'settings_refused'])

/** Whether `error` says that the server is unfit in a way that trying again does not mend. */
export function isLastingRefusal(error: unknown): boolean {
  return error instanceof ConnectionError && LASTING.has(error.code)
}
