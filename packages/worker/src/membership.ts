import { A_MOMENT_SECONDS } from './a-moment.js'
import { type ClusterView, type InstanceView, mayHoldAnything } from './cluster-view.js'
import { decideTrials, NO_TRIALS, type TrialMemory, type TrialOptions, type Trials } from './trials.js'

/** How membership is damped, in seconds. */
export interface MembershipOptions extends TrialOptions {
  /** How long an instance whose claims are all gone has time to be heard, before it counts as crashed. */
  readonly crashGraceSeconds: number
  /** How often the claims are looked at. */
  readonly observeIntervalSeconds: number
  /** How long after the loss of most instances at once their work is left alone, unless the claims prove it free. */
  readonly massLossHoldSeconds: number
  /** How long the work of an instance that is gone waits for it to come back under the same id. */
  readonly restartGraceSeconds: number
  /** How long the members must have been the same ones before work is moved only to balance it. */
  readonly settleSeconds: number
  /** Silence after which an instance counts as gone. Losses within this time count as one. */
  readonly heartbeatTimeoutSeconds: number
}

/** What a leader remembers of the rounds before. */
export interface MembershipMemory {
  readonly members: ReadonlySet<string>
  /** When the set of members last changed. */
  readonly changedAt: number
  /** When it began to change, after having been settled. */
  readonly unsettledSince: number
  /** Who held claims at the last look. */
  readonly holders: ReadonlySet<string>
  /** Who has no claims, against its own words or all of a sudden, and when that was first seen. */
  readonly vanishedAt: ReadonlyMap<string, number>
  /** Who was heard after that, and so is alive. */
  readonly acquitted: ReadonlySet<string>
  /** Who stopped being a member lately, and when. */
  readonly leftAt: ReadonlyMap<string, number>
  /** Who did so without a goodbye, and when. */
  readonly silentSince: ReadonlyMap<string, number>
  /** Who was lost together with most others. */
  readonly lostTogether: ReadonlySet<string>
  /** Until when that holds their work back. */
  readonly holdUntil: number
  /** Who takes what it is given. */
  readonly trials: TrialMemory
}

/** Who may be given work, and whose work has to wait. */
export interface Membership extends MembershipMemory {
  /** Who may still come back under the same id. */
  readonly mayReturn: ReadonlySet<string>
  /** From when on work may be moved for balance alone. */
  readonly settledAt: number
  /** Monotonic times, all later than now, at which something here changes by itself. */
  readonly deadlines: readonly number[]
  readonly trials: Trials
}

// A cluster that never stops changing must still be balanced now and then.
const LONGEST_UNSETTLED = 5

/**
 * The memory of a leader that has not planned yet. Whoever was heard lately counts as a member until now, so that a restart or the loss of many is seen
 * for what it is also when the leader changed with it.
 */
export function firstMembership(now: number, instances: readonly InstanceView[], options: MembershipOptions): MembershipMemory {
  const heardAfter = now - options.heartbeatTimeoutSeconds - Math.max(options.heartbeatTimeoutSeconds, options.restartGraceSeconds)
  return {
    members: new Set(instances.filter(({ heardAt }) => heardAt > heardAfter).map(({ instanceId }) => instanceId)),
    changedAt: now,
    unsettledSince: now,
    holders: new Set(),
    vanishedAt: new Map(),
    acquitted: new Set(),
    leftAt: new Map(),
    silentSince: new Map(),
    lostTogether: new Set(),
    holdUntil: Number.NEGATIVE_INFINITY,
    trials: NO_TRIALS,
  }
}

/** Who is a member now, given who was one before. Pure: the memory of the next round is part of the answer. */
export function decideMembership(view: ClusterView, options: MembershipOptions, before: MembershipMemory): Membership {
  const { now, instances } = view
  const { holders, vanishedAt, acquitted } = findVanished(view, options, before)
  const members = new Set<string>()
  const leaving = new Set<string>()
  for (const { instanceId, status } of instances) {
    const since = vanishedAt.get(instanceId)
    const hasCrashed = since !== undefined && now >= since + options.crashGraceSeconds
    if (status === 'healthy' && !hasCrashed) members.add(instanceId)
    if (status === 'draining' || status === 'terminated') leaving.add(instanceId)
  }

  const gone = [...before.members].filter((instanceId) => !members.has(instanceId))
  const leftAt = keepRecent(before.leftAt, options.restartGraceSeconds, now, members)
  const silentSince = keepRecent(before.silentSince, options.heartbeatTimeoutSeconds, now, members)
  for (const instanceId of gone) {
    if (options.restartGraceSeconds > 0) leftAt.set(instanceId, now)
    if (!leaving.has(instanceId)) silentSince.set(instanceId, now)
  }
  const loss = decideMassLoss(view, options, before, {
    members,
    silentSince,
    hasNewLoss: gone.some((instanceId) => silentSince.has(instanceId)),
  })

  const trials = decideTrials(view, members, options, before.trials)
  const hasChanged = gone.length > 0 || members.size !== before.members.size
  const changedAt = hasChanged ? now : before.changedAt
  const wasQuiet = now >= before.changedAt + options.settleSeconds
  // It is time to balance, whatever changes; and after that the damping begins anew.
  const isOverdue = !wasQuiet && now >= before.unsettledSince + LONGEST_UNSETTLED * options.settleSeconds
  const unsettledSince = hasChanged && (wasQuiet || isOverdue) ? now : before.unsettledSince
  const settledAt = isOverdue
    ? now
    : Math.min(changedAt + options.settleSeconds, unsettledSince + LONGEST_UNSETTLED * options.settleSeconds)
  const deadlines = [
    settledAt,
    loss.holdUntil,
    ...instances
      .filter(({ status }) => status === 'healthy')
      .map(({ heardAt }) => heardAt + options.heartbeatTimeoutSeconds + A_MOMENT_SECONDS),
    ...[...vanishedAt.values()].map((since) => since + options.crashGraceSeconds),
    ...[...view.toldAt.values()].map((at) => at + answerSeconds(options)),
    ...[...leftAt.values()].map((since) => since + options.restartGraceSeconds),
    ...trials.deadlines,
  ]
  return {
    ...{ members, holders, vanishedAt, acquitted, leftAt, silentSince, changedAt, unsettledSince, settledAt, trials, ...loss },
    mayReturn: new Set(leftAt.keys()),
    deadlines: deadlines.filter((at) => at > now),
  }
}

/** A living instance claims what it is told to run, and says so, at once; this is ample time for it, and for telling it twice more. */
function answerSeconds({ crashGraceSeconds, observeIntervalSeconds }: MembershipOptions): number {
  return 3 * (crashGraceSeconds + observeIntervalSeconds)
}

/**
 * Who has no claims any more: it held some at the look before, or says that it does, and has not been heard since. The second also finds an
 * instance that died before this one led. One that died idle is found by not answering when it is given something. Whoever is heard
 * afterwards has only lost its claims, and is left in peace until it has some.
 */
function findVanished(
  view: ClusterView,
  options: MembershipOptions,
  before: MembershipMemory,
): Pick<MembershipMemory, 'holders' | 'vanishedAt' | 'acquitted'> {
  const { now, instances, observation, selfId, toldAt } = view
  const vanishedAt = new Map<string, number>()
  const acquitted = new Set<string>()
  if (observation === null) return { holders: before.holders, vanishedAt, acquitted: before.acquitted }
  const mayHold = mayHoldAnything(view)
  const holders = new Set(instances.map(({ instanceId }) => instanceId).filter(mayHold))
  for (const { instanceId, status, heardAt, subscriptions, usesClaims } of instances) {
    if (!usesClaims || instanceId === selfId || status !== 'healthy' || holders.has(instanceId)) continue
    if (before.acquitted.has(instanceId) && subscriptions.length > 0) {
      acquitted.add(instanceId)
      continue
    }
    const saysItHolds = subscriptions.length > 0 && heardAt <= observation.at
    const told = toldAt.get(instanceId)
    const silentSinceTold = told !== undefined && heardAt <= told && now >= told + answerSeconds(options) ? told : undefined
    const lostClaimsAt = before.holders.has(instanceId) || saysItHolds ? observation.at : undefined
    const since = before.vanishedAt.get(instanceId) ?? lostClaimsAt ?? silentSinceTold
    if (since === undefined) continue
    if (heardAt <= since) vanishedAt.set(instanceId, since)
    else acquitted.add(instanceId)
  }
  return { holders, vanishedAt, acquitted }
}

/** A leader that loses most others at once is more likely to be cut off itself. */
function decideMassLoss(
  { now, selfId }: ClusterView,
  { massLossHoldSeconds }: MembershipOptions,
  before: MembershipMemory,
  { members, silentSince, hasNewLoss }: { members: ReadonlySet<string>; silentSince: ReadonlyMap<string, number>; hasNewLoss: boolean },
): { readonly lostTogether: ReadonlySet<string>; readonly holdUntil: number } {
  const others = members.size - (members.has(selfId) ? 1 : 0)
  const isMassLoss = hasNewLoss && silentSince.size >= 2 && silentSince.size > others
  const holdUntil = isMassLoss ? now + massLossHoldSeconds : before.holdUntil
  if (now >= holdUntil) return { lostTogether: new Set(), holdUntil }
  const lost = [...before.lostTogether, ...silentSince.keys()].filter((instanceId) => !members.has(instanceId))
  return { lostTogether: new Set(lost), holdUntil }
}

function keepRecent(
  instants: ReadonlyMap<string, number>,
  forSeconds: number,
  now: number,
  except: ReadonlySet<string>,
): Map<string, number> {
  return new Map([...instants].filter(([instanceId, at]) => now < at + forSeconds && !except.has(instanceId)))
}
