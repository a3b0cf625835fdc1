/** Who holds what, among the in-memory ownerships that share it. */
export class SharedClaims {
  readonly #holders = new Map<string, { readonly owner: object; readonly instanceId: string }>()
  #lastToken = 0n

  /** The next fencing token: larger than all before. */
  nextToken(): bigint {
    return ++this.#lastToken
  }

  /** Gives `subscription` to `owner` unless somebody else has it. */
  take(subscription: string, owner: object, instanceId: string): boolean {
    const holder = this.#holders.get(subscription)
    if (holder !== undefined) return holder.owner === owner
    this.#holders.set(subscription, { owner, instanceId })
    return true
  }

  /** Takes it from `owner`, if it has it. */
  free(subscription: string, owner: object): void {
    if (this.#holders.get(subscription)?.owner === owner) this.#holders.delete(subscription)
  }

  /** The holder's instance id, `null` when nobody holds it. */
  holderOf(subscription: string): string | null {
    return this.#holders.get(subscription)?.instanceId ?? null
  }
}
