import type { LeaderChangeCallback, Logger } from '@es/coordination-core'
import type { LeadershipLike } from './honest-elector.fixture.js'

export interface Registration {
  readonly callback: LeaderChangeCallback
  removed: boolean
}

/** Does what `Leadership` does, in pieces that a liar can replace. */
export class OpenLeadership implements LeadershipLike {
  isLeader = false
  protected registrations: Registration[] = []
  protected readonly identity: string
  protected readonly logger: Logger
  readonly #untold: (() => Promise<void>)[] = []
  #isTelling = false

  constructor(identity: string, logger: Logger) {
    this.identity = identity
    this.logger = logger
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.registrations.push({ callback, removed: false })
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    const found = this.registrations.find((registration) => registration.callback === callback)
    if (!found) return false
    found.removed = true
    this.registrations = this.registrations.filter((registration) => registration !== found)
    return true
  }

  async change(isLeader: boolean): Promise<void> {
    if (isLeader === this.isLeader) return
    this.isLeader = isLeader
    await this.enqueue(isLeader)
  }

  protected async enqueue(isLeader: boolean): Promise<void> {
    const recipients = [...this.registrations]
    const told = new Promise<void>((resolve) => {
      this.#untold.push(async () => {
        await this.tell(recipients, isLeader)
        resolve()
      })
    })
    if (this.#isTelling) return
    void this.#tellAll()
    await told
  }

  protected async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
    for (const registration of recipients) await this.call(registration, isLeader)
  }

  protected async call(registration: Registration, isLeader: boolean): Promise<void> {
    if (registration.removed) return
    try {
      await registration.callback(isLeader)
    } catch (error) {
      this.report(error)
    }
  }

  protected report(error: unknown): void {
    this.logger.error({ identity: this.identity, error }, 'a callback failed')
  }

  async #tellAll(): Promise<void> {
    this.#isTelling = true
    for (let next = this.#untold.shift(); next; next = this.#untold.shift()) await next()
    this.#isTelling = false
  }
}
