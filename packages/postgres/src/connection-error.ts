import { ConnectionError, errorMessage } from '@es/coordination-core'

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
  'a pooler such as PgBouncer stands in between and does not pass session settings on. Advisory locks and LISTEN belong to one server session, so connect to the server directly'

/** The refusal of a pooler between this client and the server. */
export function poolerRefusal(server: string, cause?: unknown): ConnectionError {
  return new ConnectionError('transaction_pooler', `${server} cannot be used: ${POOLER_ADVICE}`, { cause })
}

/** What went wrong while connecting to `server`, in the user's words. */
export function connectError(server: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error
  const sqlState = String((error as { code?: unknown } | null)?.code)
  const text = errorMessage(error)
  // PgBouncer names the startup parameter that it refuses; a server never refuses `options` as such.
  if (/unsupported startup parameter/i.test(text)) return poolerRefusal(server, error)
  // The driver itself says so, without an SQLSTATE, when the server asks for a password and there is none.
  if (sqlState === '42704' && !text.includes('idle_session_timeout')) {
    return new ConnectionError('settings_refused', `${server} refused the options of the connection (${text}): correct or remove them`, {
      cause: error,
    })
  }
  const refusal = REFUSALS[/password must be/i.test(text) ? '28P01' : sqlState]
  if (refusal) return new ConnectionError(refusal.code, `${server} refused the connection (${text}): ${refusal.advice}`, { cause: error })
  return new ConnectionError('unreachable', `${server} could not be reached: ${text || sqlState}`, { cause: error })
}

/** Refusals that waiting does not mend. */
const LASTING: ReadonlySet<string> = new Set(['authentication_failed', 'unsupported_server', 'transaction_pooler', 'settings_refused'])

/** Whether `error` says that the server is unfit in a way that trying again does not mend. */
export function isLastingRefusal(error: unknown): boolean {
  return error instanceof ConnectionError && LASTING.has(error.code)
}
