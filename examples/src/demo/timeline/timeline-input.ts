import type { Mark } from '../scene.js'
import type { Findings, Verdict } from '../verdict.js'

/** What the page shows. Times are those of `hostSeconds`. */
export interface TimelineInput extends Findings {
  readonly verdict: Verdict
  readonly marks: readonly Mark[]
  readonly startedAt: number
  readonly endedAt: number
  readonly workers: readonly string[]
  readonly subscriptions: readonly string[]
  readonly leaseSeconds: number
}
