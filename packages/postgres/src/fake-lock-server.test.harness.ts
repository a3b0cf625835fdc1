import { type Clock, ConnectionError } from '@es/coordination-core'
import type { LockKey } from './lock-key.js'
import type { Row, Session } from './pg-session.js'
import type { Statement } from './statements.js'

/** What becomes of one statement: answered now or later, lost before it arrives, carried out but never answered, or refused. */
export type Fate = 'answer' | 'lost' | 'unanswered' | { readonly afterSeconds: number } | { readonly row: Row } | Error

/** A statement as the server saw it. */
export interface SeenStatement {
  readonly name: 'wait' | 'es_try_lock' | 'es_try_lock_within' | 'es_check' | 'es_holders' | 'es_unlock' | 'es_unlock_stray'
  readonly session: FakeSession
  readonly at: number
}

/** An attempt to open a session: `answer` it, let it `hang`, or fail it. */
export type OpenFate = 'answer' | 'hang' | { readonly afterSeconds: number } | Error

/**
 * Advisory locks in memory, as several sessions of one PostgreSQL see them: stacking, waiting in line, a transaction counter, and the lease (a
 * session that stays silent for `leaseSeconds` is ended). Everything else is scripted: `fateOf` and `fateOfOpening` decide about each request.
 */
export class FakeLockServer {
  readonly clock: Clock
  readonly leaseSeconds: number
  waitSliceSeconds = 1
  /** How long it has been up when the clock stands at 0. */
  upSecondsAtStart = 1_000_000
  isStandby = false
  fateOf: (statement: SeenStatement) => Fate = () => 'answer'
  fateOfOpening: (at: number) => OpenFate = () => 'answer'
  readonly seen: SeenStatement[] = []
  readonly openings: number[] = []
  readonly sessions = new Set<FakeSession>()
  nextToken = 100n
  #nextPid = 1

  constructor(clock: Clock, leaseSeconds = 15) {
    this.clock = clock
    this.leaseSeconds = leaseSeconds
  }

  /** Opens a session, as `LockSessionOptions.open` does. */
  open(signal: AbortSignal, applicationName = ''): Promise<FakeSession> {
    this.openings.push(this.clock.monotonicSeconds())
    const fate = this.fateOfOpening(this.clock.monotonicSeconds())
    const accept = (): FakeSession => {
      const session = new FakeSession(this, this.#nextPid++, applicationName)
      this.sessions.add(session)
      return session
    }
    if (fate === 'answer') return Promise.resolve().then(accept)
    if (fate instanceof Error) return Promise.reject(fate)
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      if (fate !== 'hang') this.clock.setTimer(fate.afterSeconds, () => resolve(accept()))
    })
  }

  /** The session that holds `key`. */
  holderOf(key: LockKey): FakeSession | undefined {
    return [...this.sessions].find((session) => session.stacked.has(key))
  }

  /** How many statements of a kind there were. */
  count(name: SeenStatement['name']): number {
    return this.seen.filter((statement) => statement.name === name).length
  }

  /** Locks `key` for `session` unless another one holds it. Stacks, as the real one does. */
  lock(key: LockKey, session: FakeSession): boolean {
    const holder = this.holderOf(key)
    if (holder !== undefined && holder !== session) return false
    session.stacked.set(key, (session.stacked.get(key) ?? 0) + 1)
    return true
  }

  /** Lets those who wait for a lock have it if it is free. */
  serveLine(): void {
    for (const session of this.sessions) session.retryWait()
  }
}

/** One session of a {@link FakeLockServer}, both ends of it. */
export class FakeSession implements Session {
  readonly pid: number
  readonly applicationName: string
  readonly serverUpSeconds: number
  readonly openedAt: number
  readonly ended: Promise<Error>
  /** How often each key is locked by this session. */
  readonly stacked = new Map<LockKey, number>()
  /** Whether neither end hears of the other any more. */
  isCutOff = false
  isDestroyed = false
  tookLeave = false
  readonly #server: FakeLockServer
  #over: (reason: Error) => void = () => {}
  #retryWait: (() => void) | null = null
  #cancelWait: () => void = () => {}
  #cancelLease: () => void = () => {}
  readonly #late: (() => void)[] = []

  constructor(server: FakeLockServer, pid: number, applicationName: string) {
    this.#server = server
    this.pid = pid
    this.applicationName = applicationName
    this.openedAt = server.clock.monotonicSeconds()
    this.serverUpSeconds = server.upSecondsAtStart + this.openedAt
    this.ended = new Promise((resolve) => {
      this.#over = resolve
    })
    this.#rest()
  }

  query(statement: Statement | string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (this.isDestroyed) return Promise.reject(new Error('Client has encountered a connection error and is not queryable'))
    const name = (typeof statement === 'string' ? 'wait' : statement.name) as SeenStatement['name']
    const seen = { name, session: this, at: this.#server.clock.monotonicSeconds() }
    this.#server.seen.push(seen)
    const fate = this.#server.fateOf(seen)
    if (this.isCutOff || fate === 'lost') return new Promise(() => {})
    this.#cancelLease()
    if (fate instanceof Error) return Promise.reject(fate)
    const effect = name === 'wait' ? this.#wait(String(statement)) : Promise.resolve([this.#effect(name, values)].flat())
    return new Promise((resolve) => {
      void effect.then((rows) => {
        this.#rest()
        const answer = typeof fate === 'object' && 'row' in fate ? [fate.row] : rows
        const deliver = (): void => void (this.isCutOff || resolve(answer))
        if (fate === 'unanswered') this.#late.push(deliver)
        else if (typeof fate === 'object' && 'afterSeconds' in fate) this.#server.clock.setTimer(fate.afterSeconds, deliver)
        else deliver()
      })
    })
  }

  /** Delivers what was left unanswered, however late, even after the client destroyed its end. */
  deliverLateAnswers(): void {
    for (const deliver of this.#late.splice(0)) deliver()
  }

  /** Ends the session on the server, as `pg_terminate_backend` does; the client hears of it unless it is cut off. */
  terminate(message = 'terminating connection due to administrator command'): void {
    this.#forget()
    if (!this.isCutOff) {
      this.isDestroyed = true
      this.#over(new ConnectionError('connection_lost', message))
    }
  }

  destroy(reason: Error): void {
    this.isDestroyed = true
    this.#over(reason)
    if (!this.isCutOff) this.#forget()
  }

  end(): Promise<void> {
    this.tookLeave = true
    this.destroy(new Error('left'))
    return Promise.resolve()
  }

  retryWait(): void {
    this.#retryWait?.()
  }

  #effect(name: SeenStatement['name'], values: readonly unknown[]): Row | Row[] {
    const keys = (values[0] ?? []) as readonly LockKey[]
    const server = this.#server
    if (name === 'es_try_lock' || name === 'es_try_lock_within') {
      const locked = keys.filter((key) => server.lock(key, this))
      return { locked, token: locked.length > 0 ? String(server.nextToken++) : null }
    }
    if (name === 'es_unlock' || name === 'es_unlock_stray') {
      const unlocked = keys.filter((key) => this.#unlock(key)).length
      server.serveLine()
      return { unlocked }
    }
    if (name === 'es_holders') {
      return keys.flatMap((key) => {
        const holder = server.holderOf(key)
        return holder ? [{ key, pid: holder.pid, application_name: holder.applicationName, backend_start: null }] : []
      })
    }
    const checksum = [...this.stacked.keys()].reduce((sum, key) => sum + BigInt(key), 0n)
    return { is_standby: server.isStandby, locks: this.stacked.size, checksum: String(checksum) }
  }

  #unlock(key: LockKey): boolean {
    const times = this.stacked.get(key) ?? 0
    if (times > 1) this.stacked.set(key, times - 1)
    else this.stacked.delete(key)
    return times > 0
  }

  #wait(text: string): Promise<Row[]> {
    const key = /'(-?\d+)'/.exec(text)?.[1] ?? ''
    const server = this.#server
    return new Promise((resolve) => {
      const finish = (row: Row): void => {
        this.#retryWait = null
        cancel()
        resolve([row])
      }
      const cancel = server.clock.setTimer(server.waitSliceSeconds, () => finish({ locked: [], token: null }))
      this.#cancelWait = cancel
      this.#retryWait = () => {
        if (server.lock(key, this)) finish({ locked: [key], token: String(server.nextToken++) })
      }
      this.#retryWait()
    })
  }

  /** The lease runs from the end of a statement. */
  #rest(): void {
    this.#cancelLease()
    if (!this.#server.sessions.has(this) && this.stacked.size === 0 && this.isDestroyed) return
    this.#cancelLease = this.#server.clock.setTimer(this.#server.leaseSeconds, () =>
      this.terminate('terminating connection due to idle-session timeout'),
    )
  }

  #forget(): void {
    this.#cancelLease()
    this.#retryWait = null
    this.#cancelWait()
    this.stacked.clear()
    this.#server.sessions.delete(this)
    this.#server.serveLine()
  }
}
