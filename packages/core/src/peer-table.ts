import type { HeartbeatMessage } from './heartbeat-message.js'
import { Lineage, type Standing, type Verdict } from './lineage.js'
import type { PeerInfo, PeerStatusChange } from './peer-info.js'
import { estimateBytes, isSameReport, newPeerRecord, PeerList, type PeerRecord, peerInfo, subscriptionsOf } from './peer-record.js'
import type { ShutdownNotification } from './shutdown-notification.js'
import { Tombstones } from './tombstones.js'
import { WorkLedger } from './work-ledger.js'

/** What a {@link PeerTable} is made of; all required, the coordinator has the defaults. */
export interface PeerTableOptions {
  readonly heartbeatTimeoutSeconds: number
  readonly peerRetentionSeconds: number
  readonly maxDrainSeconds: number
  readonly maxPeers: number
  readonly maxPeerBytes: number
}

/** What became of a message: the {@link Verdict} on it, or `full` when there was no room for its sender. */
export type Receipt = Verdict | 'full'

// Sums of floating-point seconds must not make an age that is exactly the timeout look larger.
const ROUNDING_SECONDS = 1e-9

// Part of the memory that is left when the newest had to make room.
const FULL_ENOUGH = 0.9
// Of the memory for peers, the part whose number of bytes is the number of characters that tombstones may keep.
const TOMBSTONE_SHARE = 8

const NOTHING: readonly string[] = Object.freeze([])

/**
 * The peers of one instance. Pure state: the time is an argument, and nothing is called back.
 *
 * - T1. Liveness counts from arrival on this machine's clock. An age of exactly the timeout is not stale yet; a drain window is over at
 *   its end.
 * - T2. Whatever depends on time is read after {@link advance}, so all answers of one instant agree.
 * - T3. A message costs O(1) and the size of a changed subscription list; advancing costs what has expired.
 * - T4. Each change of status is taken once ({@link takeChange}), and the `previous` of a change is the `status` of the one before.
 * - T5. Nothing that arrives makes it larger than `maxPeers` and `maxPeerBytes`. Who is gone longest makes room; among the others, who came first
 *   stays: peers that somebody makes up cannot push out those that were there before.
 */
export class PeerTable {
  readonly #options: PeerTableOptions
  readonly #peers = new Map<string, PeerRecord>()
  readonly #lists = { healthy: new PeerList(), stale: new PeerList(), draining: new PeerList(), terminated: new PeerList() }
  readonly #untold = new Set<PeerRecord>()
  readonly #tombstones: Tombstones
  readonly #ledger = new WorkLedger((loser) => this.#considerForgetting(loser as PeerRecord))
  #ownSubscriptions: readonly string[] = NOTHING
  /** Lower bounds, so that looking in vain costs one comparison. */
  #nextDrainEndsAt = Number.POSITIVE_INFINITY
  #nextForgetAt = Number.POSITIVE_INFINITY
  #evictedCount = 0
  #bytes = 0

  constructor(options: PeerTableOptions) {
    this.#options = options
    this.#tombstones = new Tombstones(options.peerRetentionSeconds, options.maxPeers, options.maxPeerBytes / TOMBSTONE_SHARE)
  }

  get healthyCount(): number {
    return this.#lists.healthy.size
  }

  /** What is kept: never more than T5 says, but for the tombstones, which have limits of their own. */
  get kept(): { readonly peers: number; readonly bytes: number; readonly tombstones: number } {
    return { peers: this.#peers.size, bytes: this.#bytes, tombstones: this.#tombstones.size }
  }

  /** How many peers had to make room. */
  get evictedCount(): number {
    return this.#evictedCount
  }

  get(instanceId: string): PeerInfo | undefined {
    const record = this.#peers.get(instanceId)
    return record && peerInfo(record)
  }

  all(): Map<string, PeerInfo> {
    const all = new Map<string, PeerInfo>()
    for (const [instanceId, record] of this.#peers) all.set(instanceId, peerInfo(record))
    return all
  }

  draining(): PeerInfo[] {
    return Array.from(this.#lists.draining, peerInfo)
  }

  staleIds(): string[] {
    return Array.from(this.#lists.stale, ({ instanceId }) => instanceId)
  }

  /** The stale peers whose silence was not taken as a change yet. */
  newlyStaleIds(): string[] {
    const ids: string[] = []
    for (const { instanceId, status, told } of this.#untold) if (status === 'stale' && told !== 'stale') ids.push(instanceId)
    return ids
  }

  /** Lost subscriptions that nobody lists, each once, by the peer that lost it last. */
  orphans(): Map<string, string[]> {
    const orphans = new Map<string, string[]>()
    for (const [name, loser] of this.#ledger.unclaimed()) {
      const { instanceId } = loser as PeerRecord
      const names = orphans.get(instanceId)
      if (names) names.push(name)
      else orphans.set(instanceId, [name])
    }
    return orphans
  }

  /** This instance lists `subscriptions` now. */
  listOwn(subscriptions: readonly string[]): void {
    this.#ledger.relist(this.#ownSubscriptions, subscriptions)
    this.#ownSubscriptions = subscriptions
  }

  /** Brings every status up to `now`. */
  advance(now: number): void {
    const { heartbeatTimeoutSeconds } = this.#options
    const silentSince = now - heartbeatTimeoutSeconds - ROUNDING_SECONDS
    let record = this.#lists.healthy.first
    if (record && record.heardAt < silentSince) {
      const silent: PeerRecord[] = []
      for (; record && record.heardAt < silentSince; record = this.#lists.healthy.first) {
        this.#ledger.relist(subscriptionsOf(record), NOTHING)
        record.goneAt = record.heardAt + heartbeatTimeoutSeconds
        this.#setStatus(record, 'stale')
        silent.push(record)
      }
      // Only now: two peers that fell silent together do not vouch for each other's work.
      for (const one of silent) this.#ledger.lose(one, subscriptionsOf(one))
    }
    if (now >= this.#nextDrainEndsAt) this.#endDrains(now)
  }

  /** Takes a heartbeat that arrived at `now`. */
  heartbeat(message: HeartbeatMessage, now: number): Receipt {
    this.advance(now)
    const record = this.#peers.get(message.instanceId)
    const stamp = {
      incarnation: message.incarnation,
      sequence: message.sequence,
      atMs: message.timestamp.getTime(),
      isRepeat: !record?.heartbeat || isSameReport(record.heartbeat, message),
    }
    if (!record) {
      const judge = (lineage: Lineage, standing: Standing): Verdict => lineage.heartbeat(stamp, standing)
      return this.#admit(message.instanceId, stamp.incarnation, now, judge, (created) => {
        created.heartbeat = message
        this.#ledger.relist(NOTHING, message.subscriptions)
        this.#setStatus(created, 'healthy')
      })
    }

    const verdict = record.lineage.heartbeat(stamp, record.status)
    if (verdict !== 'newer' && verdict !== 'successor') return verdict
    const listed = record.status === 'healthy' ? subscriptionsOf(record) : NOTHING
    if (verdict === 'successor') {
      const former = this.#endLife(record)
      this.#ledger.relist(listed, message.subscriptions)
      record.leftBehind = former.filter((name) => !this.#ledger.isListed(name))
      this.#setStatus(record, 'healthy')
    } else if (record.goodbye === null) {
      if (record.status === 'stale') this.#ledger.withdraw(record)
      this.#ledger.relist(listed, message.subscriptions)
      // Also when it was healthy: the list is in order of arrival.
      this.#setStatus(record, 'healthy')
    }
    record.heartbeat = message
    record.heardAt = now
    record.info = null
    return this.#weigh(record, now) ? verdict : 'full'
  }

  /** Takes a shutdown notification that arrived at `now`. */
  goodbye(message: ShutdownNotification, now: number): Receipt {
    this.advance(now)
    const stamp = { incarnation: message.incarnation, sequence: message.sequence, atMs: message.initiatedAt.getTime() }
    const endsAtMs = message.expectedCompletionAt.getTime()
    const record = this.#peers.get(message.instanceId)
    if (!record) {
      const judge = (lineage: Lineage, standing: Standing): Verdict => lineage.goodbye(stamp, endsAtMs, standing)
      return this.#admit(message.instanceId, stamp.incarnation, now, judge, (created) => {
        this.#ledger.lose(created, message.subscriptions)
        this.#beginDrain(created, message, now)
      })
    }

    const verdict = record.lineage.goodbye(stamp, endsAtMs, record.status)
    if (verdict !== 'newer' && verdict !== 'successor') return verdict
    const before = subscriptionsOf(record)
    if (record.status === 'healthy') this.#ledger.relist(before, NOTHING)
    if (verdict === 'successor') {
      const former = this.#endLife(record)
      record.heartbeat = null
      const kept = new Set(message.subscriptions)
      record.leftBehind = former.filter((name) => !this.#ledger.isListed(name) && !kept.has(name))
      this.#ledger.lose(record, message.subscriptions)
    } else if (record.status === 'healthy') {
      this.#ledger.lose(record, message.subscriptions)
    } else {
      // What it already lost and others took is settled: only names that it did not mention before are lost now.
      const known = new Set(before)
      const kept = new Set(message.subscriptions)
      for (const name of [...(record.unclaimed ?? [])]) if (!kept.has(name)) this.#ledger.withdraw(record, name)
      this.#ledger.lose(
        record,
        message.subscriptions.filter((name) => !known.has(name)),
      )
    }
    this.#beginDrain(record, message, now)
    return this.#weigh(record, now) ? verdict : 'full'
  }

  /** Drops a peer and its work; its old messages do not bring it back during the retention period. `false` when it is not known. */
  remove(instanceId: string, now: number): boolean {
    const record = this.#peers.get(instanceId)
    if (!record) return false
    this.advance(now)
    this.#drop(record)
    this.#tombstones.put(instanceId, record.lineage, now)
    return true
  }

  /** The change of `instanceId` that was not taken yet, if there is one. */
  takeChange(instanceId: string): PeerStatusChange | null {
    const record = this.#peers.get(instanceId)
    return record ? this.#take(record) : null
  }

  /** Takes every change that was not taken yet, each as of the moment it is asked for: time may pass between two. */
  *takeChanges(): Generator<PeerStatusChange> {
    for (const record of this.#untold) {
      const change = this.#take(record)
      if (change) yield change
    }
  }

  /** Forgets the gone peers whose time has come, whose end was taken, and whose work is settled; the changes that this makes. */
  forget(now: number): PeerStatusChange[] {
    this.advance(now)
    this.#tombstones.expire(now)
    if (now < this.#nextForgetAt) return []
    this.#nextForgetAt = Number.POSITIVE_INFINITY
    const changes: PeerStatusChange[] = []
    for (const list of [this.#lists.stale, this.#lists.terminated]) {
      for (const record of list) {
        const forgetAt = this.#forgetAt(record)
        if (forgetAt > now) {
          this.#nextForgetAt = Math.min(this.#nextForgetAt, forgetAt)
          break
        }
        if (record.unclaimed || this.#untold.has(record)) continue
        this.#drop(record)
        changes.push(
          Object.freeze({ instanceId: record.instanceId, previous: record.told, status: 'unknown', restarted: false, leftBehind: NOTHING }),
        )
      }
    }
    return changes
  }

  #admit(
    instanceId: string,
    incarnation: string | undefined,
    now: number,
    judge: (lineage: Lineage, standing: Standing) => Verdict,
    welcome: (record: PeerRecord) => void,
  ): Receipt {
    const remembered = this.#tombstones.get(instanceId, now)
    const lineage = remembered ?? new Lineage(incarnation)
    const verdict = judge(lineage, remembered ? 'removed' : 'healthy')
    if (verdict !== 'newer' && verdict !== 'successor') return verdict
    if (this.#peers.size >= this.#options.maxPeers && !this.#makeRoom(now)) return 'full'
    this.#tombstones.delete(instanceId)
    const record = newPeerRecord(instanceId, lineage, now)
    this.#peers.set(instanceId, record)
    this.#lists.healthy.append(record)
    welcome(record)
    return this.#weigh(record, now) ? verdict : 'full'
  }

  /** The life of `record` is over, another takes its place. Returns what it had and nobody took, as far as this record knows. */
  #endLife(record: PeerRecord): readonly string[] {
    const former = record.status === 'healthy' ? subscriptionsOf(record) : [...(record.unclaimed ?? [])]
    this.#ledger.withdraw(record)
    record.goodbye = null
    record.restarted = true
    this.#untold.add(record)
    return former
  }

  #beginDrain(record: PeerRecord, message: ShutdownNotification, now: number): void {
    const { maxDrainSeconds } = this.#options
    // Both instants are of the sender's clock: only their difference means anything here.
    const announced = (message.expectedCompletionAt.getTime() - message.initiatedAt.getTime()) / 1000
    if (record.goodbye === null) record.goodbyeAt = now
    record.goodbye = message
    record.heardAt = now
    record.drainEndsAt = Math.min(now + Math.max(announced, 0), record.goodbyeAt + maxDrainSeconds)
    this.#nextDrainEndsAt = Math.min(this.#nextDrainEndsAt, record.drainEndsAt)
    this.#setStatus(record, 'draining')
    if (record.drainEndsAt <= now) this.#endDrains(now)
  }

  #endDrains(now: number): void {
    this.#nextDrainEndsAt = Number.POSITIVE_INFINITY
    for (const record of this.#lists.draining) {
      if (record.drainEndsAt > now) this.#nextDrainEndsAt = Math.min(this.#nextDrainEndsAt, record.drainEndsAt)
      else {
        record.goneAt = record.drainEndsAt
        this.#setStatus(record, 'terminated')
      }
    }
  }

  #setStatus(record: PeerRecord, status: PeerRecord['status']): void {
    this.#lists[record.status].remove(record)
    record.status = status
    this.#lists[status].append(record)
    record.info = null
    if (record.told !== status) this.#untold.add(record)
  }

  #take(record: PeerRecord): PeerStatusChange | null {
    this.#untold.delete(record)
    const { instanceId, told: previous, status, restarted, leftBehind } = record
    if (previous === status && !restarted) return null
    record.told = status
    record.restarted = false
    record.leftBehind = NOTHING
    this.#considerForgetting(record)
    return Object.freeze({ instanceId, previous, status, restarted, leftBehind })
  }

  #considerForgetting(record: PeerRecord): void {
    if (record.status === 'stale' || record.status === 'terminated')
      this.#nextForgetAt = Math.min(this.#nextForgetAt, this.#forgetAt(record))
  }

  #forgetAt({ status, heardAt, goneAt }: PeerRecord): number {
    const { peerRetentionSeconds } = this.#options
    return (status === 'stale' ? heardAt : goneAt) + peerRetentionSeconds
  }

  /** Takes note of what `record` takes up now. `false` when it was too much, and the record had to go. */
  #weigh(record: PeerRecord, now: number): boolean {
    const bytes = estimateBytes(record)
    this.#bytes += bytes - record.bytes
    record.bytes = bytes
    if (this.#bytes <= this.#options.maxPeerBytes) return true
    while (this.#bytes > this.#options.maxPeerBytes && this.#makeRoom(now));
    if (this.#bytes > this.#options.maxPeerBytes) this.#dropNewest(now)
    return this.#peers.get(record.instanceId) === record
  }

  /** Finding the newest means walking over all, so it is done for a good part of the memory at once. */
  #dropNewest(now: number): void {
    for (const record of [...this.#peers.values()].reverse()) {
      if (this.#bytes <= this.#options.maxPeerBytes * FULL_ENOUGH) return
      this.#evict(record, now)
    }
  }

  #makeRoom(now: number): boolean {
    const stale = this.#lists.stale.first
    const terminated = this.#lists.terminated.first
    const longestGone = stale && terminated ? (stale.goneAt <= terminated.goneAt ? stale : terminated) : (stale ?? terminated)
    if (!longestGone) return false
    this.#evict(longestGone, now)
    return true
  }

  #evict(record: PeerRecord, now: number): void {
    this.#drop(record)
    this.#tombstones.put(record.instanceId, record.lineage, now)
    this.#evictedCount++
  }

  #drop(record: PeerRecord): void {
    if (record.status === 'healthy') this.#ledger.relist(subscriptionsOf(record), NOTHING)
    this.#ledger.withdraw(record)
    this.#lists[record.status].remove(record)
    this.#untold.delete(record)
    this.#peers.delete(record.instanceId)
    this.#bytes -= record.bytes
  }
}
