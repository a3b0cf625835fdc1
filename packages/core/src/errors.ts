/**
 * Anything that this project throws on purpose, or gives as the reason of a signal. Branch on {@link CoordinationError.code}, never on the message.
 *
 * Codes, besides those of {@link ConnectionError} and {@link InvalidMessageError}:
 * - options and calls: `invalid_options`, `already_started`; from a planner of your own `invalid_plan`
 * - messages that cannot be sent: `message_not_json`, `message_too_large`
 * - claims: `too_many_claims`; as the reason of a claim's signal `claim_released`, `claim_lost`
 * - as the reason of a run's signals: `run_revoked`, `run_stopping`, `run_lost`
 * - as the reason of a leader's signal: `leadership_over`
 * - data from elsewhere: `stored_token_ahead`, `invalid_history`
 */
export class CoordinationError extends Error {
  /** Stable, machine-readable reason in snake_case. Part of the public contract: it changes only with a major release. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/**
 * The backend could not be asked: unreachable, refused, too slow, or unfit.
 *
 * It never means "someone else leads"; that answer is the value `false`. `cause` holds the driver's error where there is one.
 * Codes used by this project and its adapters:
 * - no connection, or no more: `unreachable`, `connection_lost`, `closed`
 * - no answer in time: `timed_out`
 * - refused or unfit: `authentication_failed`, `transaction_pooler`, `standby`, `unsupported_server`, `settings_refused`
 * - one request refused, over a connection that goes on: `statement_failed`, `lock_table_full`
 */
export class ConnectionError extends CoordinationError {}

/** One thing that is wrong with a message: where it is, and what was expected there. */
export interface MessageIssue {
  /** Path inside the message, such as `subscriptions[3]`; empty for the message itself. */
  readonly path: string
  /** What was expected at that path. Bounded in length, and free of the sender's text. */
  readonly expected: string
}

/**
 * A message is off: `code` is `invalid_message`. It names each path and what was expected there, and never repeats the
 * input, which may be of any size and come from anyone.
 */
export class InvalidMessageError extends CoordinationError {
  /** Name of the message type that was expected, such as `HeartbeatMessage`. */
  readonly messageType: string
  /** What is wrong, in the order of the message's fields; at most {@link MAX_REPORTED_ISSUES}. */
  readonly issues: readonly MessageIssue[]

  constructor(messageType: string, issues: readonly MessageIssue[]) {
    const reported = issues.slice(0, MAX_REPORTED_ISSUES)
    const more = issues.length - reported.length
    const list = reported.map(({ path, expected }) => `${path || '(message)'}: expected ${expected}`).join('; ')
    super('invalid_message', `Invalid ${messageType}: ${list}${more > 0 ? `; and ${more} more` : ''}`)
    this.messageType = messageType
    this.issues = Object.freeze(reported)
  }
}

/** How many issues an {@link InvalidMessageError} reports; the rest is only counted. */
export const MAX_REPORTED_ISSUES = 10

/** The text of anything that was thrown, for logs and messages. Never throws, whatever that was. */
export function errorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'something that has no text'
  }
}
