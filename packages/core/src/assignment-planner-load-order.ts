/** Instances by load, least loaded first; equal loads by index. Changing one load costs two binary searches and a block move. */
export class LoadOrder {
  readonly #load: Float64Array
  readonly #order: Int32Array

  /** @param load by instance; read on every comparison, so it must change through {@link change} alone. */
  constructor(load: Float64Array) {
    this.#load = load
    this.#order = Int32Array.from(load, (_, instance) => instance).sort((a, b) => this.#compare(a, b))
  }

  /** The instance at `rank`; rank 0 has the least load. */
  at(rank: number): number {
    return this.#order[rank] as number
  }

  /** Sets the load of `instance`. */
  change(instance: number, load: number): void {
    const from = this.#rank(instance, this.#load[instance] as number)
    const isHeavier = load > (this.#load[instance] as number)
    const rank = this.#rank(instance, load)
    this.#load[instance] = load
    // The rank was counted with `instance` still at its old place.
    const to = isHeavier ? rank - 1 : rank
    if (to > from) this.#order.copyWithin(from, from + 1, to + 1)
    else this.#order.copyWithin(to + 1, to, from)
    this.#order[to] = instance
  }

  /** How many instances come before one of this index with this load. */
  #rank(instance: number, load: number): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#order[middle] as number
      const difference = (this.#load[other] as number) - load || other - instance
      if (difference < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(a: number, b: number): number {
    return (this.#load[a] as number) - (this.#load[b] as number) || a - b
  }
}
