// Shows how to write an elector of your own, and how to find out whether it keeps the contract. This one elects a leader among the processes of one
// machine: whoever listens on a TCP port of the loopback interface leads. The kernel lets one process listen at a time, and frees the port
// when that process ends, however it ends. What it does not do, and says so: it reaches one machine only, it numbers no terms (so it has no
// fencing token), and any other program can take the port.
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { describe, it } from 'node:test'
import {
  boundedCall,
  ConnectionError,
  errorMessage,
  type LeaderChangeCallback,
  type LeaderElector,
  Leadership,
  type Logger,
  systemClock,
  type TryAcquireOptions,
} from '@es/coordination-core'
import { leaderElectorConformance } from '@es/coordination-testing'

const HOST = '127.0.0.1'
const LONGEST_ANSWER_MS = 500

class PortLeaderElector implements LeaderElector {
  readonly identity: string
  readonly #port: number
  // Core does the part that is easily got wrong: edges, order, failing callbacks, and calls from inside a callback.
  readonly #leadership: Leadership
  #server: Server | null = null
  #observedLeader: string | null = null
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(identity: string, { port, logger }: { readonly port: number; readonly logger?: Logger }) {
    this.identity = identity
    this.#port = port
    this.#leadership = new Leadership({ identity, ...(logger && { logger }) })
  }

  get isLeader(): boolean {
    return this.#leadership.isLeader
  }

  /** On a follower as of its last refused attempt. */
  get currentLeader(): string | null {
    return this.isLeader ? this.identity : this.#observedLeader
  }

  async tryAcquire({ timeoutSeconds = 10, signal }: TryAcquireOptions = {}): Promise<boolean> {
    const call = { clock: systemClock, what: 'Asking for leadership', timeoutSeconds, signals: [signal] }
    const told = await boundedCall(call, ({ signal: over }) => this.#inTurn(() => this.#attempt(over)))
    // Outside of the turn: callbacks may call `release()`, which needs a turn of its own.
    await told.done
    return this.isLeader
  }

  async release(): Promise<void> {
    if (!this.isLeader) return
    // In this order: a callback that asks for leadership again must find its turn behind this one, and
    // the port becomes free only when the state says already that this elector does not lead.
    const freed = this.#inTurn(async () => this.#stopListening())
    const told = this.#leadership.change(false)
    await Promise.all([freed, told])
  }

  /** The kernel does not take a port away, so there is no lease to extend. */
  async renew(): Promise<boolean> {
    return this.isLeader
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#leadership.removeLeaderChangeCallback(callback)
  }

  /** `done` resolves when the callbacks were told; it stands in an object so that awaiting the attempt does not await it. */
  async #attempt(over: AbortSignal): Promise<{ readonly done: Promise<void> }> {
    if (this.#server) return { done: Promise.resolve() }
    const server = await listen(this.#port, this.identity)
    if (server === null) {
      this.#observedLeader = await askWhoLeads(this.#port)
      return { done: Promise.resolve() }
    }
    if (over.aborted) {
      // The caller has gone: nobody would ever release what was won for it.
      server.close()
      return { done: Promise.resolve() }
    }
    this.#server = server
    this.#observedLeader = null
    return { done: this.#leadership.change(true) }
  }

  #stopListening(): void {
    this.#server?.close()
    this.#server = null
  }

  /** One attempt or release at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work)
    this.#lastTurn = turn.catch(() => {})
    return turn
  }
}

/** The server that tells everybody who asks that `identity` leads; `null` when another one listens. */
function listen(port: number, identity: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.end(identity)
    })
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(new ConnectionError('unreachable', `Cannot listen on port ${port}: ${errorMessage(error)}`, { cause: error }))
    })
    // Leading must not keep a process alive that has nothing else to do.
    server.listen({ host: HOST, port }, () => resolve(server.unref()))
  })
}

/** The answer is a courtesy: when there is none, nobody is known to lead. */
function askWhoLeads(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect({ host: HOST, port, timeout: LONGEST_ANSWER_MS })
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    socket.on('timeout', () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer || null))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ host: HOST, port: 0 }, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

// The contract, as tests: one for each sentence of it. vitest's `describe` and `it` fit as well.
leaderElectorConformance(
  { describe, it },
  {
    name: 'PortLeaderElector',
    powers: { logging: true },
    async open({ logger }) {
      const port = await freePort()
      const contenders = [new PortLeaderElector('a', { port, logger }), new PortLeaderElector('b', { port, logger })] as const
      return {
        contenders,
        async close() {
          for (const elector of contenders) await elector.release()
        },
      }
    },
  },
)
