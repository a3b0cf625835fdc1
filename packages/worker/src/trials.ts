import { type ClusterView, mayHoldAnything } from './cluster-view.js'

/** How instances that take nothing are treated, in seconds. */
export interface TrialOptions {
  /** How long an instance has to claim something of what it was told to run. */
  readonly heartbeatTimeoutSeconds: number
  /** How long one that did not is left alone, the first time; later up to sixteen times as long. */
  readonly declineSeconds: number
}

/** When an instance last took nothing of what it was told to run, and how often in a row. */
interface Failure {
  readonly at: number
  readonly times: number
}

/** What a leader remembers of who takes what it is given. */
export interface TrialMemory {
  /** Who was seen holding a claim, and has not failed since. */
  readonly proven: ReadonlySet<string>
  /** Who was told to run something and holds nothing, and since when. */
  readonly idleSince: ReadonlyMap<string, number>
  readonly failures: ReadonlyMap<string, Failure>
  /** Who is on trial. */
  readonly onTrial: string | null
}

/** Who may be given how much. */
export interface Trials extends TrialMemory {
  /** Who is to be given nothing. */
  readonly barred: ReadonlySet<string>
  /** Monotonic times at which something here changes by itself. */
  readonly deadlines: readonly number[]
}

export const NO_TRIALS: TrialMemory = { proven: new Set(), idleSince: new Map(), failures: new Map(), onTrial: null }

const MOST_DOUBLINGS = 4

/**
 * Who takes the work that it is given, judged by the claims: a heartbeat can come from anybody, from an instance that is broken as well as from
 * one that somebody made up. Pure.
 *
 * - I1. An instance that was told to run something, and has claimed nothing within a heartbeat timeout while others hold claims, has failed.
 * - I2. While a member has failed, those that were never seen holding a claim are given nothing, but for one at a time that is on trial, and that one a
 *   single subscription. So however many are made up, at most one subscription at a time is with somebody who does not run it.
 * - I3. Those that have not been tried come first, of these the one that was heard last for the first time; one that failed is tried again after a while.
 * - I4. A claim that is seen makes up for everything.
 */
export function decideTrials(view: ClusterView, members: ReadonlySet<string>, options: TrialOptions, before: TrialMemory): Trials {
  const { now, observation } = view
  if (observation === null) return { ...before, barred: new Set(), deadlines: [] }
  const found = sortOut(view, members, options, before)
  const { proven, idleSince, failures } = found
  const deadlines = [...idleSince.values()].map((since) => since + options.heartbeatTimeoutSeconds)
  const failed = [...failures].filter(([instanceId]) => members.has(instanceId))
  if (failed.length === 0) return { ...found, onTrial: null, barred: new Set(), deadlines }

  const again = failed.map(([instanceId, failure]) => ({ instanceId, at: mayTryAgainAt(failure, options) }))
  const candidates = [...found.untried.toReversed(), ...again.filter(({ at }) => now >= at).map(({ instanceId }) => instanceId)]
  const goesOn = before.onTrial !== null && idleSince.has(before.onTrial) && !proven.has(before.onTrial)
  const onTrial = goesOn ? before.onTrial : (candidates[0] ?? null)
  const barred = new Set([...found.untried, ...failed.map(([instanceId]) => instanceId)])
  if (onTrial !== null) barred.delete(onTrial)
  deadlines.push(...again.map(({ at }) => at))
  return { proven, idleSince, failures, onTrial, barred, deadlines }
}

function sortOut(view: ClusterView, members: ReadonlySet<string>, { heartbeatTimeoutSeconds }: TrialOptions, before: TrialMemory) {
  const { now, instances, observation, selfId, told } = view
  const holds = mayHoldAnything(view)
  // Where nobody holds anything, the fault is not that of one instance.
  const canBeHeld = (observation?.holders.size ?? 0) > 0
  const proven = new Set<string>()
  const idleSince = new Map<string, number>()
  const failures = new Map<string, Failure>()
  const untried: string[] = []
  for (const { instanceId, usesClaims } of instances) {
    if (!usesClaims || instanceId === selfId) continue
    if (holds(instanceId)) {
      proven.add(instanceId)
      continue
    }
    const failure = before.failures.get(instanceId)
    const isIdle = members.has(instanceId) && told.has(instanceId)
    const since = (canBeHeld ? before.idleSince.get(instanceId) : undefined) ?? now
    if (isIdle && observation !== null && observation.at >= since + heartbeatTimeoutSeconds) {
      failures.set(instanceId, { at: now, times: (failure?.times ?? 0) + 1 })
      continue
    }
    if (isIdle) idleSince.set(instanceId, since)
    if (failure !== undefined) failures.set(instanceId, failure)
    else if (before.proven.has(instanceId)) proven.add(instanceId)
    else if (members.has(instanceId)) untried.push(instanceId)
  }
  return { proven, idleSince, failures, untried }
}

function mayTryAgainAt({ at, times }: Failure, { declineSeconds }: TrialOptions): number {
  return at + declineSeconds * 2 ** Math.min(times - 1, MOST_DOUBLINGS)
}
