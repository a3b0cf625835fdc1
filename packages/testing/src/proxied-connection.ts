import { connect, type Socket } from 'node:net'

/** Which way bytes flow: to the server behind the proxy, or back to its client. */
export type Direction = 'toServer' | 'toClient'

/** The faults that all connections of a proxy live in; the proxy changes it and then calls {@link ProxiedConnection.onWeather}. */
export interface ProxyWeather {
  /** Directions in which nothing gets through. */
  readonly holes: Set<Direction>
  delaySeconds: number
  /** Bytes handed on, counted by the connections. */
  readonly bytes: Record<Direction, number>
}

/** Bytes, the orderly end of a direction, or the death of the socket they came from. */
type Parcel = Buffer | 'end' | 'death'

// Enough to keep a local connection busy; beyond it the sender is slowed down, as by a real network.
const MAX_HELD_BYTES = 1024 * 1024

/**
 * One client with its connection to the server, and what is under way between them.
 *
 * - X1. Each direction is a queue; what comes out of it is in the order in which it went in, the end of the connection included.
 * - X2. A black hole stops the queue and the reading: the end or death of one side is not known to the other before it heals.
 * - X3. No more is read than the receiver takes, up to a fixed amount.
 */
export class ProxiedConnection {
  /** Resolves when both sides are closed. Never rejects. */
  readonly ended: Promise<void>
  readonly #client: Socket
  readonly #target: { readonly host: string; readonly port: number }
  readonly #weather: ProxyWeather
  readonly #toServer: Lane
  readonly #toClient: Lane
  #server: Socket | null = null
  #isEnding = false
  #resolveEnded = (): void => {}

  constructor(client: Socket, target: { readonly host: string; readonly port: number }, weather: ProxyWeather) {
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#client = client
    this.#target = target
    this.#weather = weather
    this.#toServer = new Lane('toServer', weather, () => this.end('reset'))
    this.#toClient = new Lane('toClient', weather, () => this.end('reset'))
    this.#toServer.from(client)
    this.#toClient.to(client)
    client.once('close', () => this.#onClosed())
    this.onWeather()
  }

  /** To be called after every change of the weather. */
  onWeather(): void {
    // In a black hole even the handshake with the server is lost, so it is not begun.
    if (!this.#server && !this.#isEnding && !this.#weather.holes.has('toServer')) this.#connect()
    this.#toServer.pump()
    this.#toClient.pump()
  }

  /** Ends both sides at once, whatever is under way. */
  end(how: 'reset' | 'end'): void {
    this.#isEnding = true
    this.#toServer.stop()
    this.#toClient.stop()
    for (const socket of [this.#client, this.#server]) {
      if (how === 'reset' && socket && !socket.connecting) socket.resetAndDestroy()
      else socket?.destroy()
    }
    this.#onClosed()
  }

  #connect(): void {
    const server = connect({ ...this.#target, allowHalfOpen: true, noDelay: true })
    this.#server = server
    this.#toServer.to(server)
    this.#toClient.from(server)
    server.once('close', () => this.#onClosed())
  }

  #onClosed(): void {
    if (this.#client.closed && (this.#server?.closed ?? this.#isEnding)) this.#resolveEnded()
  }
}

/** One direction of a connection. */
class Lane {
  readonly #direction: Direction
  readonly #weather: ProxyWeather
  readonly #onDeath: () => void
  readonly #held: { readonly parcel: Parcel; readonly arrivedAt: number }[] = []
  #heldBytes = 0
  #from: Socket | null = null
  #to: Socket | null = null
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(direction: Direction, weather: ProxyWeather, onDeath: () => void) {
    this.#direction = direction
    this.#weather = weather
    this.#onDeath = onDeath
  }

  from(socket: Socket): void {
    this.#from = socket
    // Errors arrive as the close that follows them; without a listener they would end the process.
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#hold(chunk))
    socket.once('end', () => this.#hold('end'))
    socket.once('close', () => this.#hold('death'))
  }

  to(socket: Socket): void {
    this.#to = socket
    socket.on('drain', () => this.pump())
    socket.once('connect', () => this.pump())
  }

  /** Hands on what is due, and reads or stops reading. */
  pump(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    if (!this.#isBlocked) this.#handOn()
    if (this.#isStopped) return
    if (this.#isBlocked || this.#heldBytes >= MAX_HELD_BYTES) this.#from?.pause()
    else this.#from?.resume()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  get #isBlocked(): boolean {
    return this.#weather.holes.has(this.#direction)
  }

  #hold(parcel: Parcel): void {
    if (this.#isStopped) return
    this.#held.push({ parcel, arrivedAt: performance.now() })
    this.#heldBytes += typeof parcel === 'string' ? 0 : parcel.length
    this.pump()
  }

  #handOn(): void {
    const to = this.#to
    if (!to || to.connecting) return
    for (let next = this.#held[0]; next && !to.writableNeedDrain; next = this.#held[0]) {
      const dueInMilliseconds = next.arrivedAt + this.#weather.delaySeconds * 1000 - performance.now()
      if (dueInMilliseconds > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(dueInMilliseconds))
        return
      }
      this.#held.shift()
      this.#deliver(to, next.parcel)
    }
  }

  #deliver(to: Socket, parcel: Parcel): void {
    if (parcel === 'death') {
      // A socket that ended in order closes once the other direction is delivered too; nothing is left to tell then.
      if (!this.#from?.readableEnded || this.#from.errored) this.#onDeath()
    } else if (parcel === 'end') {
      to.end()
    } else {
      this.#heldBytes -= parcel.length
      this.#weather.bytes[this.#direction] += parcel.length
      to.write(parcel)
    }
  }
}
