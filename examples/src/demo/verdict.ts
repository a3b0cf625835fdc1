import type { Evidence } from './evidence.js'
import { type Kill, overlaps, type Takeover, type Term, takeoverAfter } from './term-log.js'

/** Everything that is judged. */
export interface Findings {
  readonly evidence: Evidence
  readonly terms: readonly Term[]
  readonly kills: readonly Kill[]
  /** How many kills there should have been. */
  readonly plannedKills: number
  /** Longest time from a kill to the next election. */
  readonly takeoverSeconds: number
}

/** One thing that must be so. */
interface Check {
  readonly name: string
  readonly isFine: boolean
  /** What was found, in a few words. */
  readonly found: string
}

export interface Verdict {
  readonly holds: boolean
  readonly checks: readonly Check[]
  readonly takeovers: readonly Takeover[]
}

/** Whether the run kept the promise: one leader at a time, nothing lost, nothing applied twice, and quick takeovers. */
export function judge(findings: Findings): Verdict {
  const { evidence, terms, kills, plannedKills, takeoverSeconds } = findings
  const { events, checkpoint, applied, lost, appliedTwice, outOfOrder, staleWrites, orders, wrongOrders } = evidence
  const taken = kills.map((kill) => takeoverAfter(kill, terms))
  const slowest = Math.max(0, ...taken.map(electedAfterSeconds))
  const together = overlaps(terms).length
  const tokens = terms.map(({ token }) => token)
  const foreignTokens = evidence.tokens.filter((token) => !tokens.includes(token))
  const checks: Check[] = [
    {
      name: 'events read',
      isFine: applied === events && checkpoint === events,
      found: `${applied} of ${events}, checkpoint at ${checkpoint}`,
    },
    mustBeZero('lost', lost),
    mustBeZero('applied twice', appliedTwice),
    mustBeZero('applied out of order', outOfOrder),
    { name: 'read model equals the log', isFine: wrongOrders === 0, found: `${orders - wrongOrders} of ${orders} orders` },
    mustBeZero('two leaders at one instant', together),
    { name: 'tokens grow from term to term', isFine: isGrowing(tokens), found: tokens.join(' < ') },
    mustBeZero('writes of a stale leader', staleWrites),
    mustBeZero('writes outside of any term', foreignTokens.length),
    { name: 'leaders killed at work', isFine: kills.length === plannedKills, found: `${kills.length} of ${plannedKills}` },
    {
      name: 'takeover in time',
      isFine: slowest <= takeoverSeconds,
      found: kills.length === 0 ? 'nothing to take over' : `slowest ${milliseconds(slowest)} of ${milliseconds(takeoverSeconds)}`,
    },
    {
      name: 'every successor got to work',
      isFine: taken.every(({ successor }) => successor?.firstCommitAt),
      found: `${kills.length} takeovers`,
    },
  ]
  return { holds: checks.every(({ isFine }) => isFine), checks, takeovers: taken }
}

/** Seconds from the kill to the election of the next leader; infinite when there was none. */
export function electedAfterSeconds({ kill, successor }: Takeover): number {
  return successor ? successor.electedAt - kill.at : Number.POSITIVE_INFINITY
}

/** Seconds from the kill to the end of the next leader's first transaction; infinite when there was none. */
export function committedAfterSeconds({ kill, successor }: Takeover): number {
  return successor?.firstCommitAt ? successor.firstCommitAt - kill.at : Number.POSITIVE_INFINITY
}

/** A duration for people. */
export function milliseconds(seconds: number): string {
  return Number.isFinite(seconds) ? `${Math.round(seconds * 1000)} ms` : 'never'
}

function mustBeZero(name: string, count: number): Check {
  return { name, isFine: count === 0, found: String(count) }
}

function isGrowing(tokens: readonly bigint[]): boolean {
  return tokens.every((token, index) => index === 0 || token > (tokens[index - 1] ?? 0n))
}
