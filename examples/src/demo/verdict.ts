import type { Evidence } from './evidence.js'
import { gapsBetween, overlaps, type RunSpan, type Span, type TermSpan } from './history.js'
import type { Phase, PhaseKind } from './scene.js'

/** Everything that is judged. */
export interface Findings {
  readonly evidence: readonly Evidence[]
  readonly runs: readonly RunSpan[]
  readonly terms: readonly TermSpan[]
  readonly phases: readonly Phase[]
  /** The phases that there should have been. */
  readonly planned: readonly PhaseKind[]
}

/** One thing that must be so. */
interface Check {
  readonly name: string
  readonly isFine: boolean
  /** What was found, in a few words. */
  readonly found: string
}

/** A time during which a subscription had no owner. */
export interface Gap extends Span {
  readonly subscription: string
}

/** What a phase cost. */
export interface PhaseCost {
  readonly phase: Phase
  /** The longest gap of this phase; `null` when there was none. */
  readonly longestGap: Gap | null
  readonly starts: number
}

export interface Verdict {
  readonly holds: boolean
  readonly checks: readonly Check[]
  readonly costs: readonly PhaseCost[]
  readonly starts: number
  readonly fewestStarts: number
}

/** More starts than this many times the fewest possible are a cluster that cannot make up its mind. */
const MOVES_TOLERANCE = 1.5

/** Whether the run kept the promise: one owner at a time, nothing lost, nothing applied twice, and no subscription left alone for long. */
export function judge({ evidence, runs, terms, phases, planned }: Findings): Verdict {
  const gaps = findGaps(runs)
  const costs = phases.map((phase) => costOf(phase, { phases, gaps, runs }))
  const starts = runs.length
  const fewestStarts = total(phases.map((phase) => phase.fewestStarts))
  const late = costs.filter(({ phase, longestGap }) => longestGap !== null && lengthOf(longestGap) > phase.gapLimitSeconds)
  const missing = planned.filter((kind) => !phases.some((phase) => phase.kind === kind))
  const sum = (count: (each: Evidence) => number): number => total(evidence.map(count))
  const events = sum((each) => each.events)
  const checks: Check[] = [
    {
      name: 'events read',
      isFine:
        evidence.length > 0 && evidence.every(({ events: all, applied, checkpoint }) => all > 0 && applied === all && checkpoint === all),
      found: `${sum(({ applied }) => applied).toLocaleString('en-US')} of ${events.toLocaleString('en-US')}, by ${evidence.length} subscriptions`,
    },
    mustBeZero(
      'events lost',
      sum(({ lost }) => lost),
    ),
    mustBeZero(
      'events applied twice',
      sum(({ appliedTwice }) => appliedTwice),
    ),
    mustBeZero(
      'events applied out of order',
      sum(({ outOfOrder }) => outOfOrder),
    ),
    {
      name: 'read models equal the log',
      isFine: sum(({ wrongRows }) => wrongRows) === 0,
      found: `${sum(({ rows, wrongRows }) => rows - wrongRows)} of ${sum(({ rows }) => rows)} rows`,
    },
    mustBeZero('two owners at one instant', total(groupBySubscription(runs).map((group) => overlaps(group).length))),
    mustBeZero('two leaders at one instant', overlaps(terms).length),
    mustBeZero(
      'writes of a stale owner',
      sum(({ staleWrites }) => staleWrites),
    ),
    mustBeZero(
      'writers without a claim',
      sum((each) => strangersIn(each, runs)),
    ),
    {
      name: 'tokens grow from owner to owner',
      isFine: groupBySubscription(runs).every(isGrowing),
      found: `${starts} claims that were run`,
    },
    {
      name: 'every subscription owned again in time',
      isFine: late.length === 0,
      found: late.length === 0 ? 'in every phase' : `not in ${late.map(({ phase }) => phase.title).join(', ')}`,
    },
    {
      name: 'no more moves than needed',
      isFine: starts <= fewestStarts * MOVES_TOLERANCE,
      found: `${starts} starts, and the fewest possible are ${fewestStarts}`,
    },
    {
      name: 'everything planned has happened',
      isFine: missing.length === 0,
      found: missing.length === 0 ? `${phases.length} phases` : `missing: ${missing.join(', ')}`,
    },
  ]
  return { holds: checks.every(({ isFine }) => isFine), checks, costs, starts, fewestStarts }
}

/** The gaps of all subscriptions, in order. */
export function findGaps(runs: readonly RunSpan[]): readonly Gap[] {
  return groupBySubscription(runs)
    .flatMap((group) => gapsBetween(group).map((gap) => ({ ...gap, subscription: group[0]?.subscription ?? '' })))
    .sort((a, b) => a.from - b.from)
}

export function lengthOf({ from, until }: Span): number {
  return until - from
}

/** A gap counts for the phase in which most of it lies: what is known of a process that stands still ends a moment before it was stopped. */
function phaseOf(gap: Gap, phases: readonly Phase[]): Phase | undefined {
  const common = ({ from, until }: Phase): number => Math.min(gap.until, until) - Math.max(gap.from, from)
  return [...phases].sort((a, b) => common(b) - common(a))[0]
}

function costOf(
  phase: Phase,
  { phases, gaps, runs }: { readonly phases: readonly Phase[]; readonly gaps: readonly Gap[]; readonly runs: readonly RunSpan[] },
): PhaseCost {
  const [longestGap = null] = gaps.filter((gap) => phaseOf(gap, phases) === phase).sort((a, b) => lengthOf(b) - lengthOf(a))
  return { phase, longestGap, starts: runs.filter(({ from }) => from >= phase.from && from < phase.until).length }
}

function groupBySubscription(runs: readonly RunSpan[]): readonly (readonly RunSpan[])[] {
  const groups = new Map<string, RunSpan[]>()
  for (const run of runs) groups.set(run.subscription, [...(groups.get(run.subscription) ?? []), run])
  return [...groups.values()]
}

/** Those in the ledger that no worker reported as a run of its own. */
function strangersIn({ subscription, writers }: Evidence, runs: readonly RunSpan[]): number {
  return writers.filter(
    ({ worker, token }) => !runs.some((run) => run.subscription === subscription && run.worker === worker && run.token === token),
  ).length
}

function mustBeZero(name: string, count: number): Check {
  return { name, isFine: count === 0, found: String(count) }
}

/** One process may run a claim once more after a failure; nobody else may. */
function isGrowing(runs: readonly RunSpan[]): boolean {
  return runs.every((run, index) => {
    const before = runs[index - 1]
    return before === undefined || run.token > before.token || (run.token === before.token && run.pid === before.pid)
  })
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
