import { CoordinationError, describeValue } from '@es/coordination-core'
import type { HistoryEvent } from './history-event.js'
import { type FieldKind, HISTORY_FIELDS, readField } from './history-fields.js'
import { mergeHistories } from './history-order.js'

/** The recording of one process or observer: JSON, one event a line. */
export interface HistoryText {
  /** For error messages, such as the name of the file. */
  readonly name: string
  readonly text: string
}

/** How {@link parseHistory} reads. */
export interface ParseHistoryOptions {
  /**
   * What to do with a last line that has no line break and is no event: whoever was killed may have been in the middle of it.
   * @default 'refuse'
   */
  readonly tornLastLine?: 'refuse' | 'drop'
}

/** How many bad lines an error names. */
const MAX_REPORTED_LINES = 10

/** The event as one line of JSON, line break included. Tokens become decimal strings, as JSON has no bigint. */
export function formatHistoryEvent(event: HistoryEvent): string {
  return `${JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))}\n`
}

/** Events as JSON lines. */
export function formatHistory(events: readonly HistoryEvent[]): string {
  return events.map(formatHistoryEvent).join('')
}

/**
 * Reads JSON lines that {@link formatHistory} wrote: one text, or those of several recorders, which are merged by time. Events of one instant
 * stay in the order given, and those of one recorder in its own. Empty lines and unknown keys are skipped.
 *
 * @throws CoordinationError `invalid_history` naming each bad line, up to ten, and what was expected there.
 */
export function parseHistory(
  source: string | readonly HistoryText[],
  { tornLastLine = 'refuse' }: ParseHistoryOptions = {},
): readonly HistoryEvent[] {
  const texts = typeof source === 'string' ? [{ name: '', text: source }] : source
  const problems: string[] = []
  const recordings = texts.map(({ name, text }) => {
    const events: HistoryEvent[] = []
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const event = readEvent(line)
      if (typeof event !== 'string') events.push(event)
      else if (tornLastLine === 'refuse' || index < lines.length - 1)
        problems.push(`line ${index + 1}${name === '' ? '' : ` of ${name}`}: ${event}`)
    }
    return events
  })
  if (problems.length > 0) {
    const more = problems.length > MAX_REPORTED_LINES ? `; and ${problems.length - MAX_REPORTED_LINES} more` : ''
    throw new CoordinationError('invalid_history', `This is no history: ${problems.slice(0, MAX_REPORTED_LINES).join('; ')}${more}`)
  }
  return mergeHistories(recordings)
}

/** The event, or what is wrong with the line. */
function readEvent(line: string): HistoryEvent | string {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return 'expected JSON'
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return `expected a JSON object, got ${describeValue(value)}`
  const { type } = value as { readonly type?: unknown }
  if (typeof type !== 'string' || !Object.hasOwn(HISTORY_FIELDS, type))
    return `type must be one of ${Object.keys(HISTORY_FIELDS).join(', ')}, got ${describeValue(type)}`
  const fields: Readonly<Record<string, FieldKind>> = HISTORY_FIELDS[type as HistoryEvent['type']]
  const event: Record<string, unknown> = { type }
  for (const [name, kind] of Object.entries(fields)) {
    const given = (value as Readonly<Record<string, unknown>>)[name]
    const read = readField(kind, given)
    if (read === null) return `${name} must be ${kind.rule}, got ${describeValue(given)}`
    if (read.value !== undefined) event[name] = read.value
  }
  return event as unknown as HistoryEvent
}
