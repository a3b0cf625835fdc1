import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { type Direction, ProxiedConnection, type ProxyWeather } from './proxied-connection.js'

/** Where a {@link FaultProxy} forwards to. */
export interface FaultProxyTarget {
  /** @default '127.0.0.1' */
  readonly host?: string
  readonly port: number
}

/** What a {@link FaultProxy} has seen. */
export interface FaultProxyCounts {
  /** Connections accepted since the start. */
  readonly accepted: number
  /** Connections whose client side is still open as far as the proxy knows. */
  readonly open: number
  /** Bytes handed on to the server. */
  readonly bytesToServer: number
  /** Bytes handed on to the client. */
  readonly bytesToClient: number
}

/**
 * A TCP proxy on 127.0.0.1 that misbehaves on request: the network faults that a test of a real backend needs, without privileges.
 *
 * Faults apply to the connections that are open and to those that come; they combine, and {@link heal} ends black holes and
 * delays. Nothing is ever lost inside a connection: like TCP, it holds bytes back and delivers them in order after healing, or
 * the connection ends.
 *
 * Close it in the test that opened it; then no socket and no timer is left.
 *
 * @example
 * ```ts
 * await using proxy = await FaultProxy.start({ port: 5432 })
 * const client = new pg.Client({ host: proxy.host, port: proxy.port })
 * proxy.blackhole()
 * ```
 */
export class FaultProxy implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly #target: Required<FaultProxyTarget>
  readonly #connections = new Set<ProxiedConnection>()
  readonly #weather: ProxyWeather = { holes: new Set(), delaySeconds: 0, bytes: { toServer: 0, toClient: 0 } }
  #server: Server | null
  #accepted = 0
  #closing: Promise<void> | null = null

  /** Starts a proxy on a free port. The target need not be reachable yet: a connection to it is made for each client. */
  static async start({ host = '127.0.0.1', port }: FaultProxyTarget): Promise<FaultProxy> {
    const server = newServer()
    await listen(server, 0)
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('The proxy did not get a TCP port')
    return new FaultProxy(server, address.port, { host, port })
  }

  private constructor(server: Server, port: number, target: Required<FaultProxyTarget>) {
    this.#server = server
    this.port = port
    this.#target = target
    server.on('connection', (client) => this.#onConnection(client))
  }

  get counts(): FaultProxyCounts {
    const { toServer, toClient } = this.#weather.bytes
    return { accepted: this.#accepted, open: this.#connections.size, bytesToServer: toServer, bytesToClient: toClient }
  }

  /**
   * Stops forwarding without closing anything, as a cable that was pulled: neither side hears of the other, not even that it closed its socket.
   * New connections are accepted and then ignored. With a direction only that one is cut: `toClient` lets requests reach the server and
   * loses its answers. Calls add up until {@link heal}.
   */
  blackhole(direction?: Direction): void {
    if (direction !== 'toClient') this.#weather.holes.add('toServer')
    if (direction !== 'toServer') this.#weather.holes.add('toClient')
    this.#onWeather()
  }

  /** Forwards every byte, in both directions, no sooner than `seconds` after it arrived: a round trip takes twice that longer. 0 ends it. */
  delay(seconds: number): void {
    if (!(Number.isFinite(seconds) && seconds >= 0)) throw new RangeError(`seconds must be finite and not negative, got ${seconds}`)
    this.#weather.delaySeconds = seconds
    this.#onWeather()
  }

  /** Ends black holes and delays; what was held back is delivered, ends of connections included. */
  heal(): void {
    this.#weather.holes.clear()
    this.#weather.delaySeconds = 0
    this.#onWeather()
  }

  /**
   * Ends all connections on both sides, through any black hole, and returns how many there were. `reset` is what a crashed peer's machine
   * answers (ECONNRESET); `end` is an orderly close. New connections are still accepted.
   */
  cut(how: 'reset' | 'end' = 'reset'): number {
    const connections = [...this.#connections]
    for (const connection of connections) connection.end(how)
    return connections.length
  }

  /** From now on new connections are refused (ECONNREFUSED), as by a server that is not running. Open ones go on. */
  refuse(): void {
    this.#server?.close()
    this.#server = null
  }

  /** Ends {@link refuse}: listens again, on the same port. */
  async accept(): Promise<void> {
    if (this.#closing !== null) throw new Error('This proxy is closed')
    if (this.#server) return
    const server = newServer()
    this.#server = server
    server.on('connection', (client) => this.#onConnection(client))
    await listen(server, this.port)
  }

  /** Ends everything. Resolves when no socket is left; calling it again returns the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const server = this.#server
    this.#server = null
    const stopped = server && once(server, 'close')
    server?.close()
    const ended = [...this.#connections].map((connection) => connection.ended)
    this.cut('end')
    await Promise.all([stopped, ...ended])
  }

  #onConnection(client: Socket): void {
    if (this.#closing !== null) {
      client.destroy()
      return
    }
    this.#accepted++
    const connection = new ProxiedConnection(client, this.#target, this.#weather)
    this.#connections.add(connection)
    void connection.ended.then(() => this.#connections.delete(connection))
  }

  #onWeather(): void {
    for (const connection of this.#connections) connection.onWeather()
  }
}

function newServer(): Server {
  // Half open, because the end of one direction must not overtake what the other one still holds back.
  return createServer({ allowHalfOpen: true, noDelay: true })
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}
