import type { Finding } from './breach-log.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { Spell } from './spell.js'
import type { Timeline } from './timeline.js'
import { formatTime, type SubscriptionRecord } from './timeline-book.js'
import { compareTokens, type IndexedWrite, writesAt } from './write-order.js'

/** H5 and H6: nobody writes after a later owner. H14: nobody writes under a token that it never got. */
export function findStaleWrites(timeline: Timeline, options: ParsedHistoryOptions): Finding[] {
  return [...timeline.subscriptions.values()].flatMap((record) => findStaleWritesOf(record, timeline, options))
}

function findStaleWritesOf(
  record: SubscriptionRecord,
  { events, from }: Timeline,
  { toleranceSeconds, ownedBy }: ParsedHistoryOptions,
): Finding[] {
  const { name, claims } = record
  const writes = writesAt(events, [...record.checkpoints, ...record.applied])
  const claimOf = claimsByToken(claims)
  const firstWriteAbove = earliestAbove(writes.map(({ event, index }) => ({ token: event.token, at: event.at, index })))
  const firstClaimAbove = earliestAbove(claims.map(({ token, from: at, startIndex: index }) => ({ token, at, index })))
  const findings: Finding[] = []
  const reported = new Set<string>()
  // Where one is wrong all of the spell are: the first one stands for them.
  const find = (rule: Finding['rule'], { event, index }: IndexedWrite, others: readonly number[], reason: string): void => {
    const key = `${rule} ${event.instanceId} ${event.token}`
    if (reported.has(key)) return
    reported.add(key)
    const message = `${event.instanceId} wrote ${name} up to position ${event.position} under token ${event.token} at ${formatTime(event.at, from)}, ${reason}`
    findings.push({ rule, at: event.at, subscription: name, indices: [...others, index], message })
  }
  for (const write of writes) {
    const { token, instanceId, at } = write.event
    if (token === null) continue
    const claim = claimOf.get(token)?.find((each) => each.instanceId === instanceId)
    if (ownedBy === 'claim' || claims.length > 0) {
      if (claim === undefined) find('impossible', write, [], 'and never got that token')
      else if (at < claim.from - toleranceSeconds) find('impossible', write, [claim.startIndex], 'before it had got that token')
    }
    const larger = firstWriteAbove(token)
    if (larger !== null && larger.at < write.sentAt - toleranceSeconds) {
      find('stale_write', write, [larger.index], `after token ${larger.token} had written at ${formatTime(larger.at, from)}`)
      continue
    }
    const later = firstClaimAbove(token)
    if (
      claim === undefined ||
      later === null ||
      write.sentAt <= claim.until + toleranceSeconds ||
      later.at >= write.sentAt - toleranceSeconds
    )
      continue
    const reason = `its claim had ended at ${formatTime(claim.until, from)}, and a claim under token ${later.token} had begun at ${formatTime(later.at, from)}`
    find('late_write', write, [...claim.indices, later.index], reason)
  }
  return findings
}

interface Tokened {
  readonly token: bigint | null
  readonly at: number
  readonly index: number
}

type WithToken = Tokened & { readonly token: bigint }

/** A function that finds the earliest of `items` whose token is larger than the one asked for. */
function earliestAbove(items: readonly Tokened[]): (token: bigint) => WithToken | null {
  const byToken = items.filter((item): item is WithToken => item.token !== null).sort((a, b) => compareTokens(a.token, b.token))
  const earliest: WithToken[] = []
  for (const item of byToken.toReversed()) {
    const before = earliest.at(-1)
    earliest.push(before === undefined || item.at < before.at ? item : before)
  }
  earliest.reverse()
  return (token) => {
    let low = 0
    let high = byToken.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((byToken[middle] as WithToken).token > token) high = middle
      else low = middle + 1
    }
    return earliest[low] ?? null
  }
}

function claimsByToken(claims: readonly Spell[]): ReadonlyMap<bigint, readonly Spell[]> {
  const byToken = new Map<bigint, Spell[]>()
  for (const claim of claims) {
    if (claim.token === null) continue
    const same = byToken.get(claim.token)
    if (same === undefined) byToken.set(claim.token, [claim])
    else same.push(claim)
  }
  return byToken
}
