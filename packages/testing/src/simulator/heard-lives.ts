type Message = Readonly<Record<string, unknown>>

/** How a heartbeat stands to what was heard of its sender: `new_life` of one never heard of · `overtaken` by a later one of the same life · `usual`. */
export type HeartbeatOrder = 'new_life' | 'overtaken' | 'usual'

/** Which lives of the others were heard on the bus, and how far. */
export class HeardLives {
  /** The highest sequence that was heard, by life; -1 before its first heartbeat. */
  readonly #sequences = new Map<string, number>()

  hearHeartbeat(message: Message): HeartbeatOrder {
    const { incarnation, sequence } = message
    if (typeof incarnation !== 'string' || typeof sequence !== 'number') return 'usual'
    const life = lifeOf(message)
    const highest = this.#sequences.get(life)
    this.#sequences.set(life, Math.max(sequence, highest ?? -1))
    if (highest === undefined) return 'new_life'
    return sequence < highest ? 'overtaken' : 'usual'
  }

  hearShutdown(message: Message): void {
    const life = lifeOf(message)
    if (!this.#sequences.has(life)) this.#sequences.set(life, -1)
  }
}

function lifeOf({ instance_id: sender, incarnation }: Message): string {
  return JSON.stringify([sender, incarnation])
}
