import type { CancelTimer } from '@es/coordination-core'

interface Timer {
  readonly dueSeconds: number
  /** Grows, so that timers of one instant keep their order. */
  readonly number: number
  /** `null` once it was cancelled. */
  callback: (() => void) | null
}

/** Timers by the time they are due, then in the order in which they were set: a binary heap, in which cancelled ones stay until they come to the top. */
export class TimerQueue {
  #heap: Timer[] = []
  #size = 0
  #lastNumber = 0

  /** How many are set and not cancelled. */
  get size(): number {
    return this.#size
  }

  add(dueSeconds: number, callback: () => void): CancelTimer {
    const timer: Timer = { dueSeconds, number: ++this.#lastNumber, callback }
    this.#heap.push(timer)
    this.#rise(this.#heap.length - 1)
    this.#size++
    return () => {
      if (timer.callback === null) return
      timer.callback = null
      this.#size--
      this.#sweep()
    }
  }

  /** Takes out the first one if it is due by then. */
  takeDue(bySeconds: number): { readonly dueSeconds: number; readonly callback: () => void } | null {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined || (first.callback !== null && first.dueSeconds > bySeconds)) return null
      this.#removeFirst()
      const { callback, dueSeconds } = first
      if (callback === null) continue
      // It cannot be cancelled any more.
      first.callback = null
      this.#size--
      return { callback, dueSeconds }
    }
  }

  /** Long timeouts that were cancelled must not pile up. */
  #sweep(): void {
    if (this.#heap.length < 64 || this.#size * 2 > this.#heap.length) return
    this.#heap = this.#heap.filter(({ callback }) => callback !== null).sort(compare)
  }

  #removeFirst(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink(0)
  }

  #rise(index: number): void {
    const timer = this.#heap[index] as Timer
    let at = index
    while (at > 0) {
      const parentIndex = (at - 1) >> 1
      const parent = this.#heap[parentIndex] as Timer
      if (compare(parent, timer) <= 0) break
      this.#heap[at] = parent
      at = parentIndex
    }
    this.#heap[at] = timer
  }

  #sink(index: number): void {
    const timer = this.#heap[index] as Timer
    let at = index
    for (;;) {
      let child = at * 2 + 1
      if (child >= this.#heap.length) break
      if (child + 1 < this.#heap.length && compare(this.#heap[child + 1] as Timer, this.#heap[child] as Timer) < 0) child++
      if (compare(this.#heap[child] as Timer, timer) >= 0) break
      this.#heap[at] = this.#heap[child] as Timer
      at = child
    }
    this.#heap[at] = timer
  }
}

function compare(one: Timer, other: Timer): number {
  // Two timers that are never due have no difference.
  return one.dueSeconds === other.dueSeconds ? one.number - other.number : one.dueSeconds < other.dueSeconds ? -1 : 1
}
