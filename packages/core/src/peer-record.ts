import type { HeartbeatMessage } from './heartbeat-message.js'
import type { Lineage } from './lineage.js'
import type { PeerInfo, PeerStatus } from './peer-info.js'
import { isSameList } from './same-list.js'
import type { ShutdownNotification } from './shutdown-notification.js'
import type { Loser } from './work-ledger.js'

/** A peer as the table keeps it. Seconds are of this process's monotonic clock. */
export interface PeerRecord extends Loser {
  readonly instanceId: string
  readonly lineage: Lineage
  status: Exclude<PeerStatus, 'unknown'>
  heartbeat: HeartbeatMessage | null
  goodbye: ShutdownNotification | null
  /** Arrival of the newest message. */
  heardAt: number
  /** Arrival of the first goodbye of the present life. */
  goodbyeAt: number
  drainEndsAt: number
  /** When it became stale or terminated. */
  goneAt: number
  /** The status that was last reported, and what else is to be reported. */
  told: PeerStatus
  restarted: boolean
  leftBehind: readonly string[]
  /** What it counts against the table's limit, see {@link estimateBytes}. */
  bytes: number
  /** The view from outside; `null` when it is out of date. */
  info: PeerInfo | null
  previous: PeerRecord | null
  next: PeerRecord | null
}

const NOTHING: readonly string[] = Object.freeze([])

export function newPeerRecord(instanceId: string, lineage: Lineage, now: number): PeerRecord {
  return {
    instanceId,
    lineage,
    status: 'healthy',
    heartbeat: null,
    goodbye: null,
    heardAt: now,
    goodbyeAt: now,
    drainEndsAt: now,
    goneAt: now,
    told: 'unknown',
    restarted: false,
    leftBehind: NOTHING,
    bytes: 0,
    info: null,
    unclaimed: null,
    previous: null,
    next: null,
  }
}

/** What the peer runs, as far as it said. */
export function subscriptionsOf({ goodbye, heartbeat }: PeerRecord): readonly string[] {
  return goodbye?.subscriptions ?? heartbeat?.subscriptions ?? NOTHING
}

// What the engine needs at worst: two bytes a character, and what maps, sets and lists take for each entry.
const BYTES_PER_CHARACTER = 2
const BYTES_PER_PEER = 1000
const BYTES_PER_SUBSCRIPTION = 300
const BYTES_PER_NAME = 40
const BYTES_PER_METADATA_CHARACTER = 20

/** The memory that a peer takes, estimated from above. Costs the length of its lists. */
export function estimateBytes(record: PeerRecord): number {
  const { instanceId, lineage, heartbeat, goodbye } = record
  const lists = [heartbeat?.subscriptions, goodbye?.subscriptions]
  let bytes = BYTES_PER_PEER + BYTES_PER_CHARACTER * (instanceId.length + lineage.textLength)
  for (const list of lists) for (const name of list ?? NOTHING) bytes += BYTES_PER_SUBSCRIPTION + BYTES_PER_CHARACTER * name.length
  for (const name of heartbeat?.declined ?? NOTHING) bytes += BYTES_PER_NAME + BYTES_PER_CHARACTER * name.length
  if (goodbye) bytes += BYTES_PER_METADATA_CHARACTER * JSON.stringify(goodbye.metadata).length
  return bytes
}

/** Whether two heartbeats say the same of the same moment. */
export function isSameReport(one: HeartbeatMessage, other: HeartbeatMessage): boolean {
  return (
    one.timestamp.getTime() === other.timestamp.getTime() &&
    one.inFlightCount === other.inFlightCount &&
    one.isLeader === other.isLeader &&
    one.loadFactor === other.loadFactor &&
    one.capacity === other.capacity &&
    isSameList(one.subscriptions, other.subscriptions) &&
    isSameList(one.declined, other.declined)
  )
}

/** The record from outside, frozen; the same object until something changes. */
export function peerInfo(record: PeerRecord): PeerInfo {
  record.info ??= Object.freeze({
    instanceId: record.instanceId,
    status: record.status,
    lastHeartbeat: record.heartbeat,
    shutdownNotification: record.goodbye,
    subscriptions: subscriptionsOf(record),
    incarnation: record.lineage.incarnation,
    heardAtSeconds: record.heardAt,
  })
  return record.info
}

/**
 * Records in the order in which they were appended. A record is in one list at most. Everything costs O(1), also the first one after
 * many were moved to the end, where a `Map` would have to skip what was deleted.
 */
export class PeerList {
  #first: PeerRecord | null = null
  #last: PeerRecord | null = null
  #size = 0

  get first(): PeerRecord | null {
    return this.#first
  }

  get size(): number {
    return this.#size
  }

  append(record: PeerRecord): void {
    record.previous = this.#last
    record.next = null
    if (this.#last) this.#last.next = record
    else this.#first = record
    this.#last = record
    this.#size++
  }

  remove(record: PeerRecord): void {
    if (record.previous) record.previous.next = record.next
    else this.#first = record.next
    if (record.next) record.next.previous = record.previous
    else this.#last = record.previous
    record.previous = null
    record.next = null
    this.#size--
  }

  /** The record at hand may be removed while iterating. */
  *[Symbol.iterator](): Generator<PeerRecord> {
    for (let record = this.#first; record; ) {
      const { next } = record
      yield record
      record = next
    }
  }
}
