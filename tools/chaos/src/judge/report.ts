import type { ChaosOptions } from '../chaos-options.js'
import type { RunOutcome } from './describe-run.js'

/** The run as JSON: what was asked for, the checks, the figures, and what broke. */
export function formatReport(options: ChaosOptions, { verdict, figures, bounds }: RunOutcome): string {
  const { holds, checks, report } = verdict
  const breaches = report.breaches.map(({ rule, message, at }) => ({ rule, message, atSeconds: at - report.figures.startedAt }))
  return `${JSON.stringify({ options, holds, checks, bounds, figures, subscriptions: report.figures.subscriptions, breaches }, null, 2)}\n`
}
