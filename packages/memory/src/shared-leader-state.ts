/** Whoever can hold a {@link SharedLeaderState}; the object itself is the holder, its identity is only a label. */
export interface Candidate {
  readonly identity: string
}

/**
 * The election that in-memory electors share: who leads, which number the term has, and who waits in line.
 *
 * It joins electors that hold this very object, inside one process; no process, container or machine boundary is crossed. It is
 * plain synchronous state, so that what it says is never behind.
 *
 * - S1. At most one candidate holds it. The holder is the object, so a second elector of the same identity is refused.
 * - S2. Terms are numbered from 1, each number larger than every earlier one, whoever holds the term.
 * - S3. Nobody overtakes: while candidates wait in line, leadership that becomes free goes to the first of them.
 */
export class SharedLeaderState {
  readonly #line = new Map<Candidate, (term: bigint) => void>()
  #holder: Candidate | null = null
  #lastTerm = 0n

  /** Identity of the leader, `null` when there is none. */
  get currentLeader(): string | null {
    return this.#holder?.identity ?? null
  }

  /** How many candidates wait in line. */
  get waitingCount(): number {
    return this.#line.size
  }

  /** For electors. The number of the candidate's term, new or present; `null` when another one holds it or is first in line. */
  take(candidate: Candidate): bigint | null {
    if (this.#holder === candidate) return this.#lastTerm
    if (this.#holder !== null) return null
    const [first = candidate] = this.#line.keys()
    return first === candidate ? this.#begin(candidate) : null
  }

  /**
   * For electors. Ends the holder's term, calls `announce`, and then gives the next in line its turn; does nothing, and calls nothing, when
   * `holder` does not hold it. `announce` runs between the two so that the old leader has stopped leading before the next one
   * starts, and can already take leadership again if nobody waits.
   */
  vacate(holder: Candidate, announce: () => void): void {
    if (this.#holder !== holder) return
    this.#holder = null
    announce()
    // Callbacks ran in `announce`: leadership may be taken again by now, and the line may have changed.
    if (this.#holder !== null) return
    const [next] = this.#line
    if (!next) return
    const [candidate, onTurn] = next
    onTurn(this.#begin(candidate))
  }

  /**
   * For electors. Waits in line behind those who came earlier; `onTurn` is called synchronously with the number of the term that the
   * candidate then holds. Call it only after {@link take} answered `null`. A candidate that waits already keeps its place.
   */
  joinLine(candidate: Candidate, onTurn: (term: bigint) => void): void {
    this.#line.set(candidate, onTurn)
  }

  /** For electors. Does nothing when the candidate does not wait. */
  leaveLine(candidate: Candidate): void {
    this.#line.delete(candidate)
  }

  #begin(candidate: Candidate): bigint {
    this.#line.delete(candidate)
    this.#holder = candidate
    this.#lastTerm += 1n
    return this.#lastTerm
  }
}
