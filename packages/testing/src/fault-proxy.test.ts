import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FaultProxy } from './fault-proxy.js'
import { until } from './poll.js'

/** A server that answers every byte with the same byte. */
class EchoServer {
  readonly connections: Socket[] = []
  readonly #server: Server

  static async start(): Promise<EchoServer> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new EchoServer(server)
  }

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.connections.push(socket)
      socket.on('error', () => {})
      socket.pipe(socket)
    })
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return address.port
  }

  async close(): Promise<void> {
    for (const socket of this.connections) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

class Client {
  received = ''
  ending: 'open' | 'end' | 'ECONNRESET' | 'ECONNREFUSED' | string = 'open'
  readonly socket: Socket

  static async to(port: number): Promise<Client> {
    const socket = connect(port, '127.0.0.1')
    const client = new Client(socket)
    await once(socket, 'connect')
    return client
  }

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      this.received += text
    })
    socket.on('end', () => {
      this.ending = 'end'
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.ending = error.code ?? error.message
    })
  }

  async answers(text: string): Promise<void> {
    await until(() => this.received === text, { what: `the answer ${JSON.stringify(text)}, got ${JSON.stringify(this.received)}` })
  }

  async endsWith(ending: string): Promise<void> {
    await until(() => this.ending === ending, { what: `the end ${ending}` })
  }
}

const POURED_BYTES = 100 * 1024 * 1024

/** Writes {@link POURED_BYTES}, each piece when the one before has left, and tells how far it got. */
function pour(socket: Socket): { readonly sent: () => number; readonly stops: () => Promise<unknown> } {
  const piece = Buffer.alloc(64 * 1024)
  let sent = 0
  const write = (): void => {
    if (sent === POURED_BYTES) return
    socket.write(piece, (error) => {
      if (error) return
      sent += piece.length
      write()
    })
  }
  write()
  const looks: number[] = []
  const isStuck = (): boolean => {
    looks.push(sent)
    return looks.length > 3 && looks.slice(-4).every((look) => look === sent)
  }
  return { sent: () => sent, stops: () => until(isStuck, { what: 'the sender to stop', everySeconds: 0.1, withinSeconds: 20 }) }
}

const leftovers: { close(): unknown }[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const leftover of leftovers.splice(0).reverse()) await leftover.close()
})

async function stage(): Promise<{ echo: EchoServer; proxy: FaultProxy; client(): Promise<Client> }> {
  const echo = await EchoServer.start()
  const proxy = await FaultProxy.start({ port: echo.port })
  leftovers.push(echo, proxy)
  return {
    echo,
    proxy,
    async client() {
      const client = await Client.to(proxy.port)
      leftovers.push({ close: () => client.socket.destroy() })
      return client
    },
  }
}

/** A round trip on a connection past the proxy's faults: whatever was going to arrive by local sockets alone has arrived. */
async function roundTrip(port: number): Promise<void> {
  const client = await Client.to(port)
  client.socket.write('?')
  await client.answers('?')
  client.socket.destroy()
}

describe('FaultProxy', () => {
  it('forwards both ways and counts', async () => {
    const { proxy, client } = await stage()
    const one = await client()
    one.socket.write('hello')
    await one.answers('hello')
    expect(proxy.counts).toEqual({ accepted: 1, open: 1, bytesToServer: 5, bytesToClient: 5 })
    one.socket.end()
    await one.endsWith('end')
    await until(() => proxy.counts.open === 0, { what: 'the proxy to see the end' })
    expect(proxy.counts.accepted).toBe(1)
  })

  it('passes on an orderly end in one direction while the other one still delivers', async () => {
    const { client } = await stage()
    const one = await client()
    const text = 'x'.repeat(3_000_000)
    one.socket.end(text)
    await until(() => one.received.length === text.length, { what: 'all bytes after the end' })
    await one.endsWith('end')
  })

  it('lets a client go on sending to a server that has ended its own direction', async () => {
    const server = createServer({ allowHalfOpen: true })
    let received = ''
    server.on('connection', (socket) => {
      socket.end('bye')
      socket.on('data', (chunk) => {
        received += chunk.toString()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await using proxy = await FaultProxy.start({ port })
    const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
    const client = new Client(socket)
    await client.endsWith('end')
    expect(client.received).toBe('bye')
    socket.end('and another thing')
    await until(() => received === 'and another thing', { what: 'what was sent after the end of the other direction' })
    server.close()
  })

  it('holds everything back in a black hole, and delivers it in order after healing', async () => {
    const { echo, proxy, client } = await stage()
    const one = await client()
    one.socket.write('a')
    await one.answers('a')
    proxy.blackhole()
    one.socket.write('b')
    await roundTrip(echo.port)
    one.socket.write('c')
    await roundTrip(echo.port)
    expect(one.received).toBe('a')
    expect(one.ending).toBe('open')
    proxy.heal()
    await one.answers('abc')
  })

  it('slows a sender down in a black hole instead of swallowing what it sends', { timeout: 30_000 }, async () => {
    const { proxy, client } = await stage()
    const one = await client()
    await until(() => proxy.counts.accepted === 1, { what: 'the connection' })
    proxy.blackhole()
    const { sent, stops } = pour(one.socket)
    await stops()
    expect(sent()).toBeLessThan(POURED_BYTES / 2)
    expect(one.ending).toBe('open')
  })

  it('keeps the end of a client from the server for as long as the black hole lasts', async () => {
    const { echo, proxy, client } = await stage()
    const one = await client()
    one.socket.write('a')
    await one.answers('a')
    proxy.blackhole()
    one.socket.destroy()
    await once(one.socket, 'close')
    await roundTrip(echo.port)
    const [atServer] = echo.connections
    expect(atServer?.readableEnded).toBe(false)
    expect(atServer?.destroyed).toBe(false)
    proxy.heal()
    await until(() => atServer?.destroyed, { what: 'the server to see the end' })
  })

  it('keeps the death of the server from the client for as long as the black hole lasts', async () => {
    const { echo, proxy, client } = await stage()
    const one = await client()
    one.socket.write('a')
    await one.answers('a')
    proxy.blackhole()
    echo.connections[0]?.resetAndDestroy()
    await roundTrip(echo.port)
    expect(one.ending).toBe('open')
    proxy.heal()
    await one.endsWith('ECONNRESET')
  })

  it('accepts and ignores new connections in a black hole, and connects them after healing', async () => {
    const { echo, proxy, client } = await stage()
    proxy.blackhole()
    const one = await client()
    one.socket.write('late')
    await roundTrip(echo.port)
    expect(echo.connections).toHaveLength(1)
    expect(one.ending).toBe('open')
    proxy.heal()
    await one.answers('late')
    expect(echo.connections).toHaveLength(2)
  })

  it('loses one direction alone', async () => {
    const { echo, proxy, client } = await stage()
    const one = await client()
    proxy.blackhole('toClient')
    one.socket.write('heard')
    await until(() => echo.connections[0]?.bytesRead === 5, { what: 'the request to arrive' })
    await roundTrip(echo.port)
    expect(one.received).toBe('')
    proxy.heal()
    await one.answers('heard')
    proxy.blackhole('toServer')
    one.socket.write('unheard')
    await roundTrip(echo.port)
    expect(echo.connections[0]?.bytesRead).toBe(5)
    echo.connections[0]?.write('!')
    await one.answers('heard!')
  })

  it('delays every byte in each direction, in order', async () => {
    const { proxy, client } = await stage()
    const one = await client()
    proxy.delay(0.05)
    const start = performance.now()
    for (const letter of 'abcdef') one.socket.write(letter)
    await one.answers('abcdef')
    expect(performance.now() - start).toBeGreaterThanOrEqual(100)
    proxy.delay(3600)
    one.socket.write('g')
    await until(() => one.socket.bytesWritten === 7, { what: 'the byte to leave' })
    proxy.heal()
    await one.answers('abcdefg')
    expect(() => proxy.delay(-1)).toThrow(RangeError)
  })

  it('cuts all connections, through a black hole too, and accepts new ones', async () => {
    const { proxy, client } = await stage()
    const both = [await client(), await client()]
    await until(() => proxy.counts.accepted === 2, { what: 'both connections' })
    proxy.blackhole()
    expect(proxy.cut()).toBe(2)
    for (const one of both) await one.endsWith('ECONNRESET')
    proxy.heal()
    const third = await client()
    third.socket.write('a')
    await third.answers('a')
    expect(proxy.cut('end')).toBe(1)
    await third.endsWith('end')
  })

  it('refuses new connections on the same port until it accepts again, and leaves open ones alone', async () => {
    const { proxy, client } = await stage()
    const one = await client()
    await until(() => proxy.counts.accepted === 1, { what: 'the connection' })
    proxy.refuse()
    proxy.refuse()
    await expect(Client.to(proxy.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    one.socket.write('a')
    await one.answers('a')
    await Promise.all([proxy.accept(), proxy.accept()])
    const two = await client()
    two.socket.write('b')
    await two.answers('b')
  })

  it('resets a client when the server behind it is not running', async () => {
    const { echo, proxy } = await stage()
    await echo.close()
    leftovers.splice(0, 1)
    const client = new Client(connect(proxy.port, '127.0.0.1'))
    await client.endsWith('ECONNRESET')
    await until(() => proxy.counts.open === 0, { what: 'the proxy to forget the client' })
  })

  it('slows a sender down instead of buffering what the receiver does not take', { timeout: 30_000 }, async () => {
    const { echo, client } = await stage()
    const one = await client()
    await until(() => echo.connections.length === 1, { what: 'the connection' })
    const [atServer] = echo.connections
    atServer?.unpipe()
    atServer?.pause()
    const { sent, stops } = pour(one.socket)
    // Sockets hold some megabytes in the kernel; then the sender stops making progress.
    await stops()
    expect(sent()).toBeLessThan(POURED_BYTES / 2)
    let received = 0
    atServer?.on('data', (chunk) => {
      received += chunk.length
    })
    atServer?.resume()
    await until(() => received === POURED_BYTES, { what: 'every byte after the receiver woke up' })
  })

  it('leaves nothing alive after close, with faults and delayed bytes under way, and closes once', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length
    await until(() => sockets() === 0, { what: 'the sockets of earlier tests to go' })
    const timersSet = vi.spyOn(globalThis, 'setTimeout')
    const timersCleared = vi.spyOn(globalThis, 'clearTimeout')
    const longTimers = () => timersSet.mock.results.filter((_, index) => (timersSet.mock.calls[index]?.[1] ?? 0) > 3_000_000)
    const { echo } = await stage()
    await until(() => sockets() === 2, { what: 'the two servers to listen' })
    const proxy = await FaultProxy.start({ port: echo.port })
    const one = await Client.to(proxy.port)
    one.socket.write('a')
    await one.answers('a')
    proxy.blackhole()
    const ignored = await Client.to(proxy.port)
    await until(() => proxy.counts.accepted === 2, { what: 'the ignored connection' })
    proxy.heal()
    proxy.delay(3600)
    one.socket.write('delayed')
    await until(() => longTimers().length > 0, { what: 'the delayed bytes to arrive at the proxy' })
    proxy.refuse()
    await proxy.accept()
    const closing = proxy.close()
    expect(proxy.close()).toBe(closing)
    await closing
    await proxy[Symbol.asyncDispose]()
    await Promise.all([one, ignored].map(({ socket }) => socket.closed || once(socket, 'close')))
    await until(() => echo.connections.every(({ destroyed }) => destroyed), { what: 'the server side to close' })
    await until(() => sockets() === 2, { what: 'the last socket to go' })
    const cleared = timersCleared.mock.calls.map(([timer]) => timer)
    expect(longTimers().filter(({ value }) => !cleared.includes(value))).toEqual([])
    expect(proxy.counts.open).toBe(0)
    await expect(proxy.accept()).rejects.toThrow('closed')
    await expect(Client.to(proxy.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
