import { CLUSTER_BOUNDS, type Member, newMember, newResource, type Resource, TIMES, type Unstamped } from './cluster-state.fixture.js'
import type { HistoryEvent, RunEnding } from './history-event.js'
import { type SeededRandom, seededRandom } from './seeded-random.fixture.js'

/**
 * The history of a small cluster that keeps its promises: leases with a deadline on the client's side that is shorter than the server's, crashes,
 * pauses, restarts, a database that goes away, stale runs whose writes are refused. Many things happen in one tick of its coarse clock. It ends with
 * a quiet time, in which everybody is there.
 */
export function correctHistory(seed: number, steps = 400): readonly HistoryEvent[] {
  return new Cluster(seededRandom(seed)).play(steps)
}

class Cluster {
  readonly #random: SeededRandom
  readonly #events: HistoryEvent[] = []
  readonly #members = ['a', 'b', 'c'].map(newMember)
  readonly #leadership = newResource(null)
  readonly #subscriptions = (CLUSTER_BOUNDS.subscriptions ?? []).map(newResource)
  #now = 100
  #token = 1n
  #isDown = false

  constructor(random: SeededRandom) {
    this.#random = random
  }

  play(steps: number): readonly HistoryEvent[] {
    for (const member of this.#members) this.#start(member)
    for (let step = 0; step < steps; step++) {
      this.#pass(this.#random.pick([0, 0, 0.001, 0.02, 0.1]) ?? 0)
      this.#disturb()
      this.#work()
    }
    this.#calmDown()
    const quietUntil = this.#now + TIMES.quietSeconds
    while (this.#now < quietUntil) {
      this.#pass(0.1)
      this.#work()
    }
    this.#note({ type: 'end' })
    return this.#events
  }

  #pass(seconds: number): void {
    this.#now = Math.round((this.#now + seconds) * 1000) / 1000
    for (const member of this.#members) {
      if (this.#now >= member.renewedAt + TIMES.leaseSeconds) this.#free(member)
      if (member.state !== 'up') continue
      if (!this.#isDown && this.#now < member.trustedUntil && this.#now >= member.renewedAt + TIMES.renewalSeconds) this.#renew(member)
      if (this.#now >= member.trustedUntil) this.#lose(member)
    }
    for (const resource of [this.#leadership, ...this.#subscriptions]) if (resource.holder === null) this.#offer(resource)
  }

  /** One thing that workloads do. */
  #work(): void {
    const member = this.#random.pick(this.#up)
    const [subscription, token] = this.#random.pick([...(member?.runs ?? [])]) ?? []
    if (member === undefined || subscription === undefined || token === undefined) return
    const resource = this.#subscriptions.find(({ name }) => name === subscription)
    if (resource === undefined) return
    if (resource.storedToken > token) {
      this.#of(member, { type: 'checkpoint_refused', subscription, token })
      if (this.#random.happens(0.5)) this.#endRun(member, subscription, 'lost')
    } else if (member.claims.get(subscription) === token && this.#now < member.trustedUntil) {
      resource.storedToken = token
      this.#of(member, { type: 'checkpoint_written', subscription, position: ++resource.position, token })
    } else {
      this.#endRun(member, subscription, 'lost')
    }
  }

  /** One thing that befalls the cluster, or that it decides, or nothing. */
  #disturb(): void {
    const chance = this.#random.next()
    // Nothing befalls a process in the very tick in which it starts.
    const up = this.#random.pick(this.#up.filter(({ since }) => since < this.#now))
    const down = this.#random.pick(this.#members.filter(({ state, since }) => state === 'down' && since < this.#now))
    const paused = this.#random.pick(this.#members.filter(({ state }) => state === 'paused'))
    if (chance < 0.02 && up !== undefined) this.#crash(up)
    else if (chance < 0.04 && up !== undefined) this.#change(up, 'paused', { type: 'paused' })
    else if (chance < 0.06 && up !== undefined) this.#leave(up)
    else if (chance < 0.12 && down !== undefined) this.#start(down)
    else if (chance < 0.16 && paused !== undefined) this.#change(paused, 'up', { type: 'resumed' })
    else if (chance < 0.175) this.#toggleDatabase()
    else if (chance < 0.3) this.#move()
    else if (chance < 0.32) this.#failARun()
  }

  #calmDown(): void {
    if (this.#isDown) this.#toggleDatabase()
    this.#pass(0.001)
    for (const member of this.#members) {
      if (member.state === 'paused') this.#change(member, 'up', { type: 'resumed' })
      if (member.state === 'down') this.#start(member)
    }
  }

  #start(member: Member): void {
    this.#change(member, 'up', { type: 'instance_started', incarnation: `${member.id}-${this.#now}` })
    member.trustedUntil = Number.POSITIVE_INFINITY
    member.renewedAt = this.#now
  }

  #crash(member: Member): void {
    this.#change(member, 'down', { type: 'crashed' })
    this.#forget(member)
    this.#free(member)
  }

  #leave(member: Member): void {
    if (this.#isDown) return
    this.#of(member, { type: 'stopping' })
    for (const subscription of [...member.runs.keys()]) this.#endRun(member, subscription, 'stopping')
    for (const subscription of member.claims.keys()) this.#of(member, { type: 'claim_released', subscription })
    if (member.term !== null) this.#of(member, { type: 'leadership_lost', token: member.term })
    this.#change(member, 'down', { type: 'stopped' })
    this.#forget(member)
    this.#free(member)
  }

  #forget(member: Member): void {
    member.claims.clear()
    member.runs.clear()
    member.term = null
  }

  #renew(member: Member): void {
    member.renewedAt = this.#now
    if (member.term === null && member.claims.size === 0) return
    member.trustedUntil = this.#now + TIMES.trustSeconds
    if (member.term !== null) this.#of(member, { type: 'leadership_renewed', trustedUntil: member.trustedUntil })
    this.#of(member, { type: 'claims_renewed', trustedUntil: member.trustedUntil })
  }

  /** The deadline has passed: everything is lost at once, and its runs will notice. */
  #lose(member: Member): void {
    if (member.term !== null) this.#of(member, { type: 'leadership_lost', token: member.term })
    for (const [subscription, token] of member.claims) this.#of(member, { type: 'claim_lost', subscription, token })
    if (member.term !== null || member.claims.size > 0) this.#allowMoves()
    member.term = null
    member.claims.clear()
    member.trustedUntil = Number.POSITIVE_INFINITY
    this.#free(member)
  }

  /** What the server does when a session has ended. */
  #free(member: Member): void {
    for (const resource of [this.#leadership, ...this.#subscriptions]) if (resource.holder === member) this.#freeOne(resource)
  }

  #freeOne(resource: Resource): void {
    resource.holder = null
    resource.freeSince = this.#now
  }

  #offer(resource: Resource): void {
    const able = this.#up.filter(({ runs }) => resource.name === null || !runs.has(resource.name))
    const member = this.#random.pick(able)
    if (this.#isDown || member === undefined) return
    if (!this.#random.happens(0.3) && this.#now < resource.freeSince + 0.5) return
    this.#take(member, resource)
  }

  #take(member: Member, resource: Resource): void {
    const token = ++this.#token
    if (member.term === null && member.claims.size === 0) {
      member.renewedAt = this.#now
      member.trustedUntil = this.#now + TIMES.trustSeconds
    }
    const { trustedUntil } = member
    resource.holder = member
    if (resource.name === null) {
      member.term = token
      this.#of(member, { type: 'elected', token, trustedUntil })
    } else {
      member.claims.set(resource.name, token)
      member.runs.set(resource.name, token)
      this.#of(member, { type: 'claimed', subscription: resource.name, token, trustedUntil })
      this.#of(member, { type: 'run_started', subscription: resource.name, token })
    }
  }

  #endRun(member: Member, subscription: string, cause: RunEnding): void {
    member.runs.delete(subscription)
    this.#of(member, { type: 'run_stopped', subscription, cause })
  }

  #toggleDatabase(): void {
    this.#isDown = !this.#isDown
    this.#note({ type: this.#isDown ? 'fault_began' : 'fault_ended', kind: 'database down' })
    this.#allowMoves()
    for (const resource of [this.#leadership, ...this.#subscriptions]) resource.freeSince = Math.max(resource.freeSince, this.#now)
  }

  /** Gives something away, to whoever takes it, if anything has happened since that was done last. */
  #move(): void {
    const resource = this.#random.pick(
      this.#subscriptions.filter(({ holder, movableUntil }) => holder?.state === 'up' && movableUntil > this.#now),
    )
    const { holder, name } = resource ?? {}
    if (this.#isDown || !resource || !holder || !name || !holder.claims.has(name) || !holder.runs.has(name)) return
    resource.movableUntil = 0
    this.#endRun(holder, name, 'revoked')
    holder.claims.delete(name)
    this.#of(holder, { type: 'claim_released', subscription: name })
    this.#freeOne(resource)
  }

  #failARun(): void {
    const member = this.#random.pick(this.#up)
    const [name, token] = this.#random.pick([...(member?.claims ?? [])]) ?? []
    if (
      member === undefined ||
      name === undefined ||
      token === undefined ||
      member.runs.get(name) !== token ||
      this.#now >= member.trustedUntil
    )
      return
    this.#endRun(member, name, 'failed')
    member.runs.set(name, token)
    this.#of(member, { type: 'run_started', subscription: name, token })
  }

  #change(member: Member, state: Member['state'], event: Unstamped): void {
    member.state = state
    member.since = this.#now
    this.#of(member, event)
    this.#allowMoves()
  }

  #allowMoves(): void {
    for (const resource of this.#subscriptions) resource.movableUntil = this.#now + 2
  }

  get #up(): readonly Member[] {
    return this.#members.filter(({ state }) => state === 'up')
  }

  #of(member: Member, event: Unstamped): void {
    this.#note({ ...event, instanceId: member.id })
  }

  #note(event: Unstamped & { readonly instanceId?: string }): void {
    this.#events.push({ at: this.#now, ...event } as HistoryEvent)
  }
}
