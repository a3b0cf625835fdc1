// Restarts leave a late message or two of the life before; more are a second process.
const SIGNS_OF_A_DOUBLE = 3

/** Watches for a second process that uses the id of this instance: another incarnation that goes on speaking. */
export class DoubleWatch {
  #incarnation = ''
  #sequence = -1
  #signs = 0

  /** A heartbeat of another incarnation under the own id. Returns whether that is a second process by now. */
  sees(incarnation: string, sequence = -1): boolean {
    if (this.#incarnation !== incarnation) {
      this.#incarnation = incarnation
      this.#sequence = -1
      this.#signs = 0
    }
    if (sequence > this.#sequence) {
      this.#sequence = sequence
      this.#signs++
    }
    return this.#signs >= SIGNS_OF_A_DOUBLE
  }
}
