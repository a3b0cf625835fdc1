/** What the server says when it shuts down, starts up, or ends a session; classes by their first two characters. */
const CODES = ['08', '57P01', '57P02', '57P03', '57P05', '25P03', '53300', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']

/** What the driver says about a connection that is gone; these errors have no code. */
const MESSAGES = [/connection terminated/i, /connection error/i, /client was closed/i, /timeout expired/i, /timeout exceeded/i]

/** Whether an error means that the database is away, or was: it is worth trying again with another connection. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as Error & { readonly code?: unknown }
  if (typeof code === 'string') return CODES.some((prefix) => code.startsWith(prefix))
  return MESSAGES.some((message) => message.test(error.message))
}
