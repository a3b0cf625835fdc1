import { type ClusterSettings, recoveryBounds } from '../cluster-settings.js'
import { FAULT_KINDS, type FaultName, isForEverybody } from './fault-kinds.js'
import { between, pick, type Random, seededRandom, shuffled } from './seeded-random.js'

/** A worker whose network is its own, so that its link can be taken down; the others reach the server through a proxy. */
export type SlotNetwork = 'proxy' | 'namespace'

/** One place for a worker: a process is in it, and after a kill another one. */
export interface Slot {
  readonly network: SlotNetwork
  /** Whether leadership has a connection of its own, or shares that of the claims. */
  readonly elector: 'shared' | 'separate'
}

export const SLOTS: readonly Slot[] = [
  { network: 'proxy', elector: 'shared' },
  { network: 'proxy', elector: 'separate' },
  { network: 'proxy', elector: 'shared' },
  { network: 'namespace', elector: 'separate' },
  { network: 'namespace', elector: 'shared' },
]

/** One planned fault. */
export interface PlannedFault {
  readonly name: FaultName
  /** When it begins, in seconds after its burst began. */
  readonly afterSeconds: number
  /** How long it lasts; 0 for what is over as soon as it happened. */
  readonly seconds: number
  /** Whom it is aimed at, if that one is free and can have it: whoever leads, or whoever owns most. Otherwise the worker in `slot`. */
  readonly aim: 'leader' | 'owner' | 'slot'
  readonly slot: number
  /** For choices that depend on the moment, such as which session: in [0, 1). */
  readonly choice: number
}

/** Faults that overlap, and the calm after them. */
export interface Burst {
  readonly faults: readonly PlannedFault[]
  readonly calmSeconds: number
}

/** What is to be done to a cluster. */
export interface Schedule {
  readonly seed: number
  readonly bursts: readonly Burst[]
}

/** How {@link planSchedule} plans. */
export interface ScheduleOptions {
  readonly seed: number
  readonly minutes: number
  readonly settings: ClusterSettings
  /** The kinds to plan. */
  readonly faults: readonly FaultName[]
}

const MOST_FAULTS_OF_ONE = 3
const BURST_SPREAD_SECONDS = 1.5
// What starting, stopping and restarting takes, about: only to guess how many bursts fit.
const SLOW_FAULT_SECONDS: Partial<Record<FaultName, number>> = { rolling_restart: 8, kill: 1.5, kill_and_rename: 1.5, pause_then_kill: 1.5 }

/**
 * What happens, and when: the same for the same options. Pure.
 *
 * - F1. Every kind comes before any comes again: kinds are dealt from a shuffled deck.
 * - F2. A burst has at most one fault that befalls everybody, next to up to three that befall one worker each, all of them different ones.
 * - F3. The calm after a burst is longer than the bounds within which the cluster has to recover, so that they are put to the test each time.
 */
export function planSchedule({ seed, minutes, settings, faults }: ScheduleOptions): Schedule {
  const random = seededRandom(seed)
  const wide = deck(random, faults.filter(isForEverybody))
  const narrow = deck(
    random,
    faults.filter((name) => !isForEverybody(name)),
  )
  const calmSeconds = recoveryBounds(settings).ownerSeconds + 0.5
  const bursts: Burst[] = []
  for (let left = minutes * 60; left > 0 || bursts.length === 0; ) {
    const burst = planBurst(random, { wide, narrow, settings, calmSeconds })
    left -= burst.calmSeconds + Math.max(...burst.faults.map((fault) => fault.afterSeconds + lengthOf(fault)))
    if (left < 0 && bursts.length > 0) break
    bursts.push(burst)
  }
  return { seed, bursts }
}

interface BurstPlan {
  readonly wide: Deck
  readonly narrow: Deck
  readonly settings: ClusterSettings
  readonly calmSeconds: number
}

function planBurst(random: Random, { wide, narrow, settings, calmSeconds }: BurstPlan): Burst {
  const names = [wide(1), narrow(MOST_FAULTS_OF_ONE)].flat()
  const free = new Set(SLOTS.keys())
  // Those that few workers can have choose first, so that there is one left for each.
  const faults = names
    .toSorted((a, b) => slotsFor(a).length - slotsFor(b).length)
    .map((name): PlannedFault => {
      const slot = pick(
        random,
        slotsFor(name).filter((each) => free.has(each)),
      )
      if (befallsOne(name)) free.delete(slot)
      const { leases } = FAULT_KINDS[name]
      return {
        name,
        afterSeconds: round(between(random, 0, BURST_SPREAD_SECONDS)),
        seconds: leases === null ? 0 : round(between(random, leases[0], leases[1]) * settings.leaseSeconds),
        aim: pick(random, ['leader', 'owner', 'slot'] as const),
        slot,
        choice: random(),
      }
    })
  return { faults: faults.sort((a, b) => a.afterSeconds - b.afterSeconds), calmSeconds }
}

function slotsFor(name: FaultName): number[] {
  return [...SLOTS.keys()].filter((slot) => isPossibleIn(name, SLOTS[slot]?.network))
}

/** Whether one worker in particular is harmed, perhaps among others: exhausted connections matter to whoever needs new ones. */
export function befallsOne(name: FaultName): boolean {
  return !isForEverybody(name) || name === 'connections_exhausted'
}

/** Whether a worker with this network can have the fault. */
export function isPossibleIn(name: FaultName, network: SlotNetwork | undefined): boolean {
  const needsProxy = (FAULT_KINDS[name].scope === 'link' && name !== 'link_down') || name === 'connections_reset'
  if (needsProxy) return network === 'proxy'
  return name !== 'link_down' || network === 'namespace'
}

/** Deals some kinds, none of them twice; fewer where there are not so many. */
type Deck = (number: number) => FaultName[]

/** Deals `names` in random order, all of them before any again. */
function deck(random: Random, names: readonly FaultName[]): Deck {
  let cards: FaultName[] = []
  return (number) => {
    const dealt: FaultName[] = []
    while (dealt.length < Math.min(number, names.length)) {
      if (cards.length === 0) cards = shuffled(random, names)
      // What was dealt from the last cards of one round stays for later in the next.
      const next = cards.findIndex((name) => !dealt.includes(name))
      dealt.push(...cards.splice(next, 1))
    }
    return dealt
  }
}

function lengthOf({ name, seconds }: PlannedFault): number {
  return seconds + (SLOW_FAULT_SECONDS[name] ?? 0)
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

/** How often each kind is planned. */
export function countFaults({ bursts }: Schedule): ReadonlyMap<FaultName, number> {
  const counts = new Map<FaultName, number>()
  for (const { faults } of bursts) for (const { name } of faults) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** The schedule for a reader: a line a fault. */
export function formatSchedule({ seed, bursts }: Schedule): string[] {
  const lines = [`Schedule of seed ${seed}: ${bursts.length} bursts, ${bursts.reduce((sum, { faults }) => sum + faults.length, 0)} faults`]
  for (const [index, { faults, calmSeconds }] of bursts.entries()) {
    lines.push(`  burst ${index + 1}, then ${calmSeconds.toFixed(1)} s of calm`)
    for (const { name, afterSeconds, seconds, aim, slot } of faults) {
      const whom = !befallsOne(name) ? '' : aim === 'slot' ? `, worker ${slot + 1}` : `, the ${aim} or worker ${slot + 1}`
      lines.push(`    +${afterSeconds.toFixed(2)} s  ${FAULT_KINDS[name].title}${seconds > 0 ? ` (${seconds.toFixed(2)} s)` : ''}${whom}`)
    }
  }
  return lines
}
