import { NOBODY } from './assignment-planner-input.js'

/** A binary heap of instances: the smallest key on top, among equal keys the smallest index. */
export class InstanceHeap {
  readonly #instances: number[] = []
  readonly #keys: number[] = []

  /** NOBODY when the heap is empty. */
  get top(): number {
    return this.#instances[0] ?? NOBODY
  }

  get topKey(): number {
    return this.#keys[0] ?? Number.POSITIVE_INFINITY
  }

  push(instance: number, key: number): void {
    let position = this.#instances.push(instance) - 1
    this.#keys.push(key)
    while (position > 0) {
      const parent = (position - 1) >>> 1
      if (!this.#isBefore(position, parent)) return
      this.#swap(parent, position)
      position = parent
    }
  }

  /** Removes the top; the heap must not be empty. */
  pop(): number {
    const top = this.top
    const instance = this.#instances.pop() as number
    const key = this.#keys.pop() as number
    if (this.#instances.length > 0) {
      this.#instances[0] = instance
      this.changeTop(key)
    }
    return top
  }

  /** Gives the top a new key, which may take it off the top. */
  changeTop(key: number): void {
    this.#keys[0] = key
    for (let position = 0; ; ) {
      let first = position
      const left = 2 * position + 1
      if (left < this.#instances.length && this.#isBefore(left, first)) first = left
      if (left + 1 < this.#instances.length && this.#isBefore(left + 1, first)) first = left + 1
      if (first === position) return
      this.#swap(first, position)
      position = first
    }
  }

  #isBefore(a: number, b: number): boolean {
    const difference =
      (this.#keys[a] as number) - (this.#keys[b] as number) || (this.#instances[a] as number) - (this.#instances[b] as number)
    return difference < 0
  }

  #swap(a: number, b: number): void {
    const instance = this.#instances[a] as number
    const key = this.#keys[a] as number
    this.#instances[a] = this.#instances[b] as number
    this.#keys[a] = this.#keys[b] as number
    this.#instances[b] = instance
    this.#keys[b] = key
  }
}
