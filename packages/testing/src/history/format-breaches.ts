import type { HistoryBreach } from './breach-log.js'
import type { HistoryReport } from './check-history.js'
import { describeEvent } from './describe-event.js'
import { type HistoryEvent, instanceOf } from './history-event.js'
import { HISTORY_RULES } from './history-rules.js'
import { formatTime } from './timeline-book.js'

/** How {@link formatBreaches} prints. */
export interface FormatBreachesOptions {
  /** How many breaches are printed; the others are counted. @default 10 */
  readonly limit?: number
}

/**
 * The report for a terminal or a failing assertion: each breach with its rule, its sentence, and the events around it, the ones that make it up
 * marked with `>`. Times count from the beginning of the history.
 */
export function formatBreaches({ breaches, breachCount, figures }: HistoryReport, { limit = 10 }: FormatBreachesOptions = {}): string {
  const { events, durationSeconds, startedAt } = figures
  const what = breachCount === 0 ? 'No breach' : breachCount === 1 ? '1 breach' : `${breachCount.toLocaleString('en-US')} breaches`
  const shown = breaches.slice(0, limit)
  const more = breachCount - shown.length
  return [
    `${what} in ${events.toLocaleString('en-US')} events over ${durationSeconds.toFixed(3)} s`,
    ...shown.map((breach, index) => formatBreach(breach, index + 1, startedAt)),
    ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : []),
  ].join('\n\n')
}

function formatBreach({ rule, message, events, window }: HistoryBreach, number: number, startedAt: number): string {
  const involved = new Set(events)
  const rows = window.map(
    (event) => [formatTime(event.at, startedAt), instanceOf(event) ?? '', describeEvent(shift(event, startedAt))] as const,
  )
  const timeWidth = Math.max(0, ...rows.map(([time]) => time.length))
  const nameWidth = Math.max(0, ...rows.map(([, name]) => name.length))
  const lines = window.map((event, index) => {
    const [time, name, words] = rows[index] ?? ['', '', '']
    return `   ${involved.has(event) ? '>' : ' '} ${time.padStart(timeWidth)}  ${name.padEnd(nameWidth)}  ${words}`
  })
  return [`${number}. ${HISTORY_RULES[rule].number} ${rule}: ${HISTORY_RULES[rule].sentence}`, `   ${message}.`, ...lines].join('\n')
}

/** The event with the deadlines in it counted from the beginning. */
function shift(event: HistoryEvent, startedAt: number): HistoryEvent {
  return 'trustedUntil' in event && event.trustedUntil !== undefined ? { ...event, trustedUntil: event.trustedUntil - startedAt } : event
}
