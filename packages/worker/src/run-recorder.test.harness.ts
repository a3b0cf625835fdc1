import type { ManualClock } from '@es/coordination-testing'
import type { Member } from './cluster.test.harness.js'
import type { Run, RunContext } from './worker-options.js'

/** A run that knows its process, and so the time. */
export type Behaviour = (subscription: string, context: RunContext, member: Member) => Promise<void>

/** One run of one subscription. */
export interface RecordedRun {
  readonly subscription: string
  readonly member: Member
  readonly fencingToken: bigint | null
  readonly startedAt: number
  /** When it ended, was told that its claim is lost, was abandoned, or its process died. */
  endedAt: number | null
  how: 'returned' | 'threw' | 'lost' | 'abandoned' | 'died' | null
}

/**
 * Who runs what when. Checks at every start:
 *
 * - R1. No subscription runs twice at one instant. A run ends for this purpose when its claim is lost, or it is abandoned: from then on the fencing token
 *   keeps it from doing harm.
 * - R2. With ownership, nothing starts without a claim that is held and has the token that the run is told.
 * - R3. Tokens of a subscription grow strictly from claim to claim.
 */
export class RunRecorder {
  readonly runs: RecordedRun[] = []
  readonly violations: string[] = []
  readonly #clock: ManualClock
  readonly #hasOwnership: boolean
  readonly #active = new Map<string, RecordedRun>()
  readonly #last = new Map<string, RecordedRun>()

  constructor(clock: ManualClock, hasOwnership: boolean) {
    this.#clock = clock
    this.#hasOwnership = hasOwnership
  }

  record(member: Member, run: Behaviour): Run {
    return async (subscription, context) => {
      if (member.gate.death.signal.aborted) return
      const record = this.#begin(member, subscription, context.fencingToken)
      context.lost.addEventListener('abort', () => this.#end(record, 'lost'))
      try {
        await run(subscription, context, member)
        this.#end(record, 'returned')
      } catch (error) {
        this.#end(record, 'threw')
        throw error
      }
    }
  }

  get owners(): Map<string, string> {
    return new Map([...this.#active.values()].map(({ subscription, member }) => [subscription, member.id]))
  }

  runsOf(subscription: string): RecordedRun[] {
    return this.runs.filter((run) => run.subscription === subscription)
  }

  /** How many runs each subscription has had since `since`, as a list of different numbers. */
  startsPerSubscription(since = 0): number[] {
    const counts = new Map<string, number>()
    for (const { subscription, startedAt } of this.runs)
      if (startedAt >= since) counts.set(subscription, (counts.get(subscription) ?? 0) + 1)
    return [...new Set(counts.values())].sort()
  }

  /** The longest time that any subscription was not run, between two of its runs that began after `since`. */
  longestGap(since = 0): number {
    let longest = 0
    const last = new Map<string, RecordedRun>()
    for (const run of this.runs) {
      const before = last.get(run.subscription)
      if (before && run.startedAt >= since) longest = Math.max(longest, run.startedAt - (before.endedAt ?? run.startedAt))
      last.set(run.subscription, run)
    }
    return longest
  }

  abandoned(member: Member, subscription: string): void {
    const active = this.#active.get(subscription)
    if (active?.member === member) this.#end(active, 'abandoned')
  }

  died(member: Member): void {
    for (const run of [...this.#active.values()]) if (run.member === member) this.#end(run, 'died')
  }

  verify(): void {
    if (this.violations.length > 0) throw new Error(this.violations.join('\n'))
  }

  #begin(member: Member, subscription: string, fencingToken: bigint | null): RecordedRun {
    const at = this.#clock.monotonicSeconds()
    const record: RecordedRun = { subscription, member, fencingToken, startedAt: at, endedAt: null, how: null }
    const active = this.#active.get(subscription)
    if (active)
      this.violations.push(
        `R1: ${subscription} started in ${member.id} at ${at} while it ran in ${active.member.id} since ${active.startedAt}`,
      )
    if (this.#hasOwnership) {
      const claim = member.ownership?.held.get(subscription)
      if (claim?.isHeld !== true || claim.fencingToken !== fencingToken)
        this.violations.push(`R2: ${subscription} started in ${member.id} at ${at} without its claim`)
      const last = this.#last.get(subscription)
      const mayRepeat = last?.member === member && last.fencingToken === fencingToken
      if (last && !mayRepeat && (last.fencingToken ?? -1n) >= (fencingToken ?? -1n)) {
        this.violations.push(`R3: ${subscription} started in ${member.id} with token ${fencingToken} after ${last.fencingToken}`)
      }
    }
    this.runs.push(record)
    this.#active.set(subscription, record)
    this.#last.set(subscription, record)
    return record
  }

  #end(record: RecordedRun, how: NonNullable<RecordedRun['how']>): void {
    if (record.endedAt !== null) return
    record.endedAt = this.#clock.monotonicSeconds()
    record.how = how
    if (this.#active.get(record.subscription) === record) this.#active.delete(record.subscription)
  }
}
