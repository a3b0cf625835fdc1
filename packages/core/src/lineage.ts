/** The part of a message that places it in its sender's history. */
export interface Stamp {
  readonly incarnation: string | undefined
  readonly sequence: number | undefined
  /** When it was made, in milliseconds of the sender's wall clock. */
  readonly atMs: number
  /** It is the newest known heartbeat once more. Matters only where nothing but equal stamps could tell. */
  readonly isRepeat?: boolean
}

/** How the receiver stands to the sender; `removed` when only the lineage is left of it. */
export type Standing = 'healthy' | 'stale' | 'draining' | 'terminated' | 'removed'

/**
 * What to do with a message: `newer` (of the present life: take it), `successor` (of a life that is the present one from now on: start
 * afresh and take it), `outdated` (drop it), `replaced` (of a life that was replaced: drop it), `rival` (`replaced`, and told once: that
 * life goes on, so two processes use one id).
 */
export type Verdict = 'newer' | 'successor' | 'outdated' | 'replaced' | 'rival'

interface FormerLife {
  readonly incarnation: string
  sequence: number
  atMs: number
  /** Newer and newer heartbeats since it was replaced. */
  signsOfLife: number
}

// A restart leaves a late message or two behind; more are a second process.
const SIGNS_OF_A_RIVAL = 3
const MAX_FORMER_LIVES = 4

const NEVER = Number.NEGATIVE_INFINITY

/**
 * The lives of one instance id as told by its messages, and the order among them. Pure: no clock of this machine enters; instants of the
 * sender are compared only with instants of the same sender.
 *
 * - L1. The present life is the one most recently adopted. An incarnation never seen before is adopted.
 * - L2. Within a life, the higher sequence is newer; without sequences, the later stamp, and of two different messages with one stamp
 *   the one that arrives later: a sender may well speak twice in a millisecond.
 * - L3. A life that was replaced stays so, unless its successor has gone silent and the replaced life still brings news: then a late
 *   message of an older life had displaced the living one.
 * - L4. A life that said goodbye does not come back. Without incarnations, a stamp after the announced end is a new life.
 * - L5. A goodbye of a life that was replaced is never heeded.
 */
export class Lineage {
  /** The present life; `null` when it sends no incarnation. */
  incarnation: string | null
  #sequence = -1
  #atMs = NEVER
  #saidGoodbye = false
  #goodbyeSequence = -1
  #goodbyeAtMs = NEVER
  #endsAtMs = NEVER
  /** Stamp of the last heartbeat refused as outdated by its stamp while the peer was silent; NaN when there is none. */
  #refusedAtMs = Number.NaN
  #former: FormerLife[] | null = null
  #toldOfRival = false

  constructor(incarnation: string | undefined) {
    this.incarnation = incarnation ?? null
  }

  /** How long the names kept here are together, in UTF-16 units. */
  get textLength(): number {
    let length = this.incarnation?.length ?? 0
    for (const { incarnation } of this.#former ?? []) length += incarnation.length
    return length
  }

  /** Judges a heartbeat, and remembers it if it is to be taken. */
  heartbeat(stamp: Stamp, standing: Standing): Verdict {
    const { incarnation } = stamp
    if (incarnation === undefined) {
      if (this.incarnation !== null) return this.#withoutIncarnation(stamp, standing) ? this.#adopt(stamp) : 'outdated'
      if (this.#saidGoodbye) {
        if (stamp.atMs > this.#endsAtMs) return this.#adopt(stamp)
        if (standing === 'removed') return 'outdated'
      }
    } else if (incarnation === this.incarnation) {
      if (this.#saidGoodbye && standing === 'removed') return 'outdated'
    } else {
      const former = this.#former?.find((life) => life.incarnation === incarnation)
      if (!former) return this.#adopt(stamp)
      return this.#fromFormer(former, stamp, standing)
    }
    if (!this.#isNewer(stamp) && !this.#isFromClockSetBack(stamp, standing)) return 'outdated'
    this.#remember(stamp)
    return 'newer'
  }

  /**
   * Judges a goodbye, and remembers it if it is to be taken.
   *
   * @param stamp with the start of the drain as instant.
   * @param endsAtMs the announced end, on the sender's clock.
   */
  goodbye(stamp: Stamp, endsAtMs: number, standing: Standing): Verdict {
    const { incarnation } = stamp
    const verdict = this.#judgeGoodbye(stamp, standing)
    if (verdict === 'newer' || verdict === 'successor') {
      if (verdict === 'successor') this.#replace(incarnation)
      this.#saidGoodbye = true
      this.#goodbyeSequence = stamp.sequence ?? -1
      this.#goodbyeAtMs = stamp.atMs
      this.#endsAtMs = endsAtMs
    }
    return verdict
  }

  #judgeGoodbye(stamp: Stamp, standing: Standing): Verdict {
    const { incarnation, atMs } = stamp
    if (incarnation === undefined) {
      if (this.incarnation !== null) return this.#withoutIncarnation(stamp, standing) ? 'successor' : 'outdated'
      if (this.#saidGoodbye && atMs > this.#endsAtMs) return 'successor'
      if (!this.#saidGoodbye) return atMs >= this.#atMs && (standing !== 'removed' || atMs > this.#atMs) ? 'newer' : 'outdated'
    } else if (incarnation === this.incarnation) {
      // It may have been overtaken by later heartbeats, but a goodbye is not taken back.
      if (!this.#saidGoodbye) return standing !== 'removed' || this.#isNewer(stamp) ? 'newer' : 'outdated'
    } else {
      if (this.#former?.some((life) => life.incarnation === incarnation)) return 'replaced'
      if (atMs >= Math.max(this.#atMs, this.#goodbyeAtMs)) return 'successor'
      // It began to leave before the present life last spoke: an older life that we never heard of.
      this.#bury({ incarnation, sequence: stamp.sequence ?? -1, atMs, signsOfLife: 0 })
      return 'replaced'
    }
    if (standing !== 'draining') return 'outdated'
    const isNewer =
      stamp.sequence !== undefined && this.#goodbyeSequence >= 0 ? stamp.sequence > this.#goodbyeSequence : atMs > this.#goodbyeAtMs
    return isNewer ? 'newer' : 'outdated'
  }

  /** L4 where a process that sends no incarnation follows one that does, such as after a rollback. */
  #withoutIncarnation({ atMs }: Stamp, standing: Standing): boolean {
    if (this.#saidGoodbye) return atMs > this.#endsAtMs
    return standing !== 'healthy' && atMs > this.#atMs
  }

  #fromFormer(former: FormerLife, stamp: Stamp, standing: Standing): Verdict {
    const isNews = stamp.sequence !== undefined && former.sequence >= 0 ? stamp.sequence > former.sequence : stamp.atMs > former.atMs
    if (!isNews) return 'replaced'
    if (standing === 'stale' || standing === 'terminated' || standing === 'removed') return this.#adopt(stamp)
    former.sequence = stamp.sequence ?? -1
    former.atMs = stamp.atMs
    former.signsOfLife++
    if (this.#toldOfRival || former.signsOfLife < SIGNS_OF_A_RIVAL) return 'replaced'
    this.#toldOfRival = true
    return 'rival'
  }

  #isNewer({ sequence, atMs, isRepeat = true }: Stamp): boolean {
    if (sequence !== undefined && this.#sequence >= 0) return sequence > this.#sequence
    return atMs > this.#atMs || (atMs === this.#atMs && !isRepeat)
  }

  /**
   * A sender whose only order is its clock would be mute for as long as that clock was set back. Two heartbeats that follow each
   * other, from a peer that is silent otherwise, are taken for such a sender and not for late messages.
   */
  #isFromClockSetBack({ sequence, atMs }: Stamp, standing: Standing): boolean {
    if (standing !== 'stale' || (sequence !== undefined && this.#sequence >= 0)) return false
    if (atMs > this.#refusedAtMs) return true
    this.#refusedAtMs = atMs
    return false
  }

  #adopt(stamp: Stamp): Verdict {
    this.#replace(stamp.incarnation)
    this.#remember(stamp)
    return 'successor'
  }

  #remember({ sequence, atMs }: Stamp): void {
    this.#sequence = sequence ?? -1
    this.#atMs = atMs
    this.#refusedAtMs = Number.NaN
  }

  #replace(incarnation: string | undefined): void {
    if (this.incarnation !== null) {
      this.#bury({
        incarnation: this.incarnation,
        sequence: Math.max(this.#sequence, this.#goodbyeSequence),
        atMs: Math.max(this.#atMs, this.#goodbyeAtMs),
        signsOfLife: 0,
      })
    }
    this.incarnation = incarnation ?? null
    if (this.#former) this.#former = this.#former.filter((life) => life.incarnation !== incarnation)
    this.#sequence = -1
    this.#atMs = NEVER
    this.#saidGoodbye = false
    this.#goodbyeSequence = -1
    this.#goodbyeAtMs = NEVER
    this.#endsAtMs = NEVER
    this.#refusedAtMs = Number.NaN
  }

  #bury(life: FormerLife): void {
    this.#former = [...(this.#former ?? []), life].slice(-MAX_FORMER_LIVES)
  }
}
