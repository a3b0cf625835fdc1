import { type Clock, requireClock, requireOptions } from '@es/coordination-core'

/** What may become of a message on its way to one subscriber. */
export interface BusFaults {
  /** Whether it is lost. */
  readonly drop?: (delivery: Delivery) => boolean
  /** How many times it arrives; 1 when left out. */
  readonly copies?: (delivery: Delivery) => number
  /** How long it takes, in seconds, for each copy; differing delays reorder messages. 0 when left out. */
  readonly delaySeconds?: (delivery: Delivery) => number
}

/** One message on its way to one subscriber. */
export interface Delivery {
  readonly topic: string
  readonly message: Readonly<Record<string, unknown>>
  /** Names given to the two transports; empty when none was given. */
  readonly from: string
  readonly to: string
}

interface Listener {
  readonly name: string
  readonly receive: (topic: string, text: string) => void
}

/**
 * The medium that in-memory transports share: what one publishes reaches all, itself included, as a copy, in order, in a later turn of the
 * event loop. {@link faults} makes it as bad as a real one.
 */
export class SharedBus {
  /** May be replaced at any time; concerns what is published from then on. */
  faults: BusFaults = {}
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()

  /**
   * @param clock delivers, immediately and after delays alike.
   * @throws CoordinationError `invalid_options` naming the option, its value and the rule.
   */
  constructor(options: { readonly clock?: Clock } = {}) {
    this.#clock = requireClock(requireOptions(options).clock)
  }

  /** @internal */
  join(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** @internal */
  send(from: string, topic: string, message: Readonly<Record<string, unknown>>): void {
    // As text, so that nobody shares objects, and only what JSON can carry arrives.
    const text = JSON.stringify(message)
    for (const listener of this.#listeners) {
      const delivery: Delivery = { topic, message, from, to: listener.name }
      const { drop, copies, delaySeconds } = this.faults
      if (drop?.(delivery)) continue
      for (let copy = copies?.(delivery) ?? 1; copy > 0; copy--) {
        this.#clock.setTimer(delaySeconds?.(delivery) ?? 0, () => {
          if (this.#listeners.has(listener)) listener.receive(topic, text)
        })
      }
    }
  }
}
