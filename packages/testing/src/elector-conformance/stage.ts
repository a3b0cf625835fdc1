import assert from 'node:assert/strict'
import type { CampaigningLeaderElector, FencedLeaderElector, LeaderElector, LogFields, Logger } from '@es/coordination-core'
import { type Truthy, until } from '../poll.js'
import { within } from '../time-limit.js'
import type { LeaderElectorElection, LeaderElectorWorld } from './leader-elector-world.js'

/** How long one step may take unless the world says otherwise. */
export const DEFAULT_PATIENCE_SECONDS = 2

/** What a case works with: the two contenders of an election of its own, and bounded ways to wait for what they do. */
export class Stage {
  readonly first: LeaderElector
  readonly second: LeaderElector
  readonly patienceSeconds: number
  readonly #world: LeaderElectorWorld
  readonly #election: LeaderElectorElection
  readonly #log: LogFields[]
  readonly #ending = new AbortController()
  readonly #remedies: (() => Promise<void>)[] = []

  static async open(world: LeaderElectorWorld): Promise<Stage> {
    const log: LogFields[] = []
    const record = (fields: LogFields): void => void log.push(fields)
    const logger: Logger = { debug() {}, info() {}, warn: record, error: record }
    return new Stage(world, await world.open({ logger }), log)
  }

  private constructor(world: LeaderElectorWorld, election: LeaderElectorElection, log: LogFields[]) {
    this.#world = world
    this.#election = election
    this.#log = log
    this.patienceSeconds = world.patienceSeconds ?? DEFAULT_PATIENCE_SECONDS
    ;[this.first, this.second] = election.contenders
  }

  get contenders(): readonly [LeaderElector, LeaderElector] {
    return [this.first, this.second]
  }

  /** Fields of the warnings and errors that the electors logged. */
  get log(): readonly LogFields[] {
    return this.#log
  }

  /** Fails when `work` takes longer than the patience, plus `extraSeconds`. */
  soon<T>(what: string, work: Promise<T>, extraSeconds = 0): Promise<T> {
    return within(this.patienceSeconds + extraSeconds, what, work)
  }

  /** Waits for an effect that follows by itself. */
  eventually<T>(what: string, condition: () => T | Promise<T>, extraSeconds = 0): Promise<Truthy<T>> {
    return until(condition, { what, withinSeconds: this.patienceSeconds + extraSeconds })
  }

  /** Makes `elector` the leader, in a case about something else. */
  async acquire(elector: LeaderElector): Promise<void> {
    assert.equal(await this.tryAcquire(elector), true, `tryAcquire() of ${elector.identity} should have won: nobody leads`)
  }

  tryAcquire(elector: LeaderElector): Promise<boolean> {
    return this.soon(`tryAcquire() of ${elector.identity}`, elector.tryAcquire())
  }

  release(elector: LeaderElector): Promise<void> {
    return this.soon(`release() of ${elector.identity}`, elector.release())
  }

  renew(elector: LeaderElector): Promise<boolean> {
    return this.soon(`renew() of ${elector.identity}`, elector.renew())
  }

  /** What `elector` tells from now on, in order; the array grows. */
  changesOf(elector: LeaderElector): readonly boolean[] {
    const changes: boolean[] = []
    elector.onLeaderChange((isLeader) => void changes.push(isLeader))
    return changes
  }

  /** Watches, every millisecond and whenever a change is told, whether both lead; the returned function fails if ever they did. */
  watchForTwoLeaders(): () => void {
    const [first, second] = this.contenders
    let sawTwo = false
    const look = (): void => {
      sawTwo ||= first.isLeader && second.isLeader
    }
    for (const elector of this.contenders) elector.onLeaderChange(look)
    const watch = setInterval(look, 1)
    this.#ending.signal.addEventListener('abort', () => clearInterval(watch), { once: true })
    return () => {
      look()
      assert.equal(sawTwo, false, 'both contenders led at one instant')
    }
  }

  fenced(elector: LeaderElector): FencedLeaderElector {
    assert.ok('fencingToken' in elector, 'the power fencingToken is declared, but the elector has no fencingToken')
    return elector as FencedLeaderElector
  }

  /** Starts to wait for leadership; a campaign without a signal is aborted when the case ends. */
  campaign(elector: LeaderElector, signal: AbortSignal = this.#ending.signal): Promise<void> {
    assert.ok('campaign' in elector, 'the power campaign is declared, but the elector has no campaign()')
    const campaign = (elector as CampaigningLeaderElector).campaign({ signal })
    // A case that fails before it awaits the campaign must not leave an unhandled rejection.
    campaign.catch(() => {})
    return campaign
  }

  async loseLeadership(leader: LeaderElector): Promise<void> {
    const { loseLeadership } = this.#world.powers ?? {}
    assert.ok(loseLeadership)
    await this.soon('loseLeadership() of the world', loseLeadership(this.#election, leader))
  }

  async hang(): Promise<() => Promise<void>> {
    const { hang } = this.#world.powers ?? {}
    assert.ok(hang)
    return this.#untilRemedied(await this.soon('hang() of the world', hang(this.#election)))
  }

  get leaseSeconds(): number {
    const { leaseExpiry } = this.#world.powers ?? {}
    assert.ok(leaseExpiry)
    return leaseExpiry.leaseSeconds
  }

  async cutOff(leader: LeaderElector): Promise<() => Promise<void>> {
    const { leaseExpiry } = this.#world.powers ?? {}
    assert.ok(leaseExpiry)
    return this.#untilRemedied(await this.soon('cutOff() of the world', leaseExpiry.cutOff(this.#election, leader)))
  }

  get currentLeaderWithinSeconds(): number {
    const { currentLeaderWithinSeconds } = this.#world.powers ?? {}
    assert.ok(currentLeaderWithinSeconds !== undefined)
    return currentLeaderWithinSeconds
  }

  /** Aborts what still waits, mends what is still broken and closes the election. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the case has ended'))
    for (const remedy of this.#remedies.splice(0)) await remedy()
    await this.#election.close()
  }

  #untilRemedied(remedy: () => Promise<void>): () => Promise<void> {
    this.#remedies.push(remedy)
    return async () => {
      const index = this.#remedies.indexOf(remedy)
      if (index === -1) return
      this.#remedies.splice(index, 1)
      await remedy()
    }
  }
}
