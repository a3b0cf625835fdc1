import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { FaultProxy, until } from '@es/coordination-testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { connect, TestElection, through } from './test-election.test.harness.js'

let election: TestElection

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => election?.[Symbol.asyncDispose]())

const servers: Server[] = []
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

/** A TCP server on a free port; its port. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  return message('E', Buffer.concat([...Object.entries(fields).map(([field, text]) => Buffer.from(`${field}${text}\0`)), Buffer.from([0])]))
}

/** Answers the startup packet with a fatal error, as a server or a pooler does that will not have it. */
function refusing(sqlState: string, text: string): Promise<number> {
  return listen((socket) => {
    socket.once('data', () => socket.end(errorResponse({ S: 'FATAL', V: 'FATAL', C: sqlState, M: text })))
  })
}

/** Hands everything on, but tells the client another backend key, as a pooler does that answers cancel requests itself. */
async function rewritingBackendKey(sent: Buffer[] = []): Promise<number> {
  const target = new URL(election.url)
  return listen((client) => {
    const server = new (client.constructor as typeof Socket)()
    sockets.add(server)
    server.on('error', () => client.destroy()).connect(Number(target.port), target.hostname)
    server.on('data', (chunk) => {
      // BackendKeyData: 'K', length, process, key; with the protocol version that pg speaks the length is always 12.
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
      if (at >= 0) chunk.writeInt32BE(424_242, at + 5)
      client.write(chunk)
    })
    client.on('data', (chunk) => {
      sent.push(chunk)
      server.write(chunk)
    })
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  })
}

async function refusalOf(
  connection: string | pg.ClientConfig,
  requestTimeoutSeconds = 3,
): Promise<{ code: string; message: string; seconds: number }> {
  const elector = election.join('refused', { connection, requestTimeoutSeconds })
  const startedAt = performance.now()
  const error = await elector.tryAcquire({ timeoutSeconds: 20 }).catch((thrown: unknown) => thrown)
  const seconds = (performance.now() - startedAt) / 1000
  await elector.close()
  const { code, message, name } = error as { code: string; message: string; name: string }
  expect(name).toBe('ConnectionError')
  expect(elector.isLeader).toBe(false)
  return { code, message, seconds }
}

const changed = (change: (url: URL) => void): string => {
  const url = new URL(election.url)
  change(url)
  return url.href
}

describe('a connection is refused with a code and advice', () => {
  it('when the password is wrong, without repeating it', async () => {
    const { code, message } = await refusalOf(changed((url) => (url.password = 'secret-but-wrong')))
    expect([code, message.includes('check the user and the password'), message.includes('secret')]).toEqual([
      'authentication_failed',
      true,
      false,
    ])
  })

  it('when there is no password although the server asks for one', async () => {
    expect(await refusalOf(changed((url) => (url.password = '')))).toMatchObject({ code: 'authentication_failed' })
  })

  it('when the user does not exist', async () => {
    expect(await refusalOf(changed((url) => (url.username = 'nobody-here')))).toMatchObject({ code: 'authentication_failed' })
  })

  it('when the database does not exist', async () => {
    expect(await refusalOf(changed((url) => (url.pathname = '/missing')))).toMatchObject({
      code: 'authentication_failed',
      message: expect.stringContaining('name of the database'),
    })
  })

  it('when the port is closed', async () => {
    expect(await refusalOf(changed((url) => (url.port = '1')))).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('when the host has no address', async () => {
    expect(await refusalOf(changed((url) => (url.hostname = 'no-such-host.invalid')))).toMatchObject({
      code: expect.stringMatching(/unreachable|timed_out/),
    })
  })

  it('when the connection string is none', async () => {
    expect(await refusalOf('postgres://[')).toMatchObject({
      code: 'settings_refused',
      message: expect.stringContaining('connection settings cannot be used'),
    })
  })

  it('when its options name something that the server does not know', async () => {
    const { code, message } = await refusalOf({ connectionString: election.url, options: '-c no_such_setting=1' })
    expect(code).toBe('settings_refused')
    expect(message).toContain('no_such_setting')
  })

  it.each<[string, string, string, string]>([
    ['a server without idle_session_timeout', '42704', 'unrecognized configuration parameter "idle_session_timeout"', 'unsupported_server'],
    ['PgBouncer', '08P01', 'unsupported startup parameter: options', 'transaction_pooler'],
    ['a newer PgBouncer', '08P01', 'unsupported startup parameter in options: idle_session_timeout', 'transaction_pooler'],
    ['a server without free connections', '53300', 'sorry, too many clients already', 'unreachable'],
    ['a server that is starting', '57P03', 'the database system is starting up', 'unreachable'],
  ])('when it meets %s (P5)', async (_what, sqlState, text, code) => {
    const port = await refusing(sqlState, text)
    expect(await refusalOf(through(election.url, { host: '127.0.0.1', port }))).toMatchObject({
      code,
      message: expect.stringContaining(code === 'transaction_pooler' ? 'connect to the server directly' : text),
    })
  })

  it('when a pooler in between is transparent but for the backend key (P5)', async () => {
    const sent: Buffer[] = []
    const port = await rewritingBackendKey(sent)
    const { code, message } = await refusalOf(through(election.url, { host: '127.0.0.1', port }))
    expect([code, message.includes('connect to the server directly')]).toEqual(['transaction_pooler', true])
    const said = Buffer.concat(sent).toString('latin1')
    // A setting or a named statement would stay behind in the pooler's connection, which belongs to others.
    expect([said.includes('SELECT pg_catalog.pg_backend_pid()'), said.includes('set_config'), /\bes_/.test(said)]).toEqual([
      true,
      false,
      false,
    ])
    expect((await election.leftovers()).locks).toBe(0)
  })

  it('when a role may not connect to the database', async () => {
    const role = `barred_${process.pid}`
    await election.query(`CREATE ROLE ${role} LOGIN PASSWORD 'barred'`)
    const [{ name } = { name: '' }] = await election.query<{ name: string }>('SELECT quote_ident(current_database()) AS name')
    await election.query(`REVOKE CONNECT ON DATABASE ${name} FROM public`)
    const refusal = await refusalOf(
      changed((url) => {
        url.username = role
        url.password = 'barred'
      }),
    )
    await election.query(`GRANT CONNECT ON DATABASE ${name} TO public`)
    await election.query(`DROP ROLE ${role}`)
    expect(refusal).toMatchObject({ code: 'authentication_failed', message: expect.stringContaining('grant the user CONNECT') })
  })

  it('when its own role has no free connection left, and works again when it has', async () => {
    const role = `crowded_${process.pid}`
    await election.query(`CREATE ROLE ${role} LOGIN PASSWORD 'crowded' CONNECTION LIMIT 1`)
    const url = changed((address) => {
      address.username = role
      address.password = 'crowded'
    })
    const other = await connect(url)
    expect(await refusalOf(url)).toMatchObject({ code: 'unreachable', message: expect.stringContaining('too many connections') })
    const elector = election.join('patient', { connection: url })
    const campaign = elector.campaign()
    await other.end()
    await campaign
    await elector.close()
    await election.query(`DROP ROLE ${role}`).catch(() => {})
  })
})

describe('connecting is bounded', () => {
  it('when the server accepts and then says nothing', async () => {
    const port = await listen(() => {})
    const { code, seconds } = await refusalOf(through(election.url, { host: '127.0.0.1', port }), 0.5)
    expect(code).toBe('timed_out')
    expect(seconds).toBeLessThan(5)
  })

  it('when the server says nonsense', async () => {
    const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect((await refusalOf(through(election.url, { host: '127.0.0.1', port }), 0.5)).code).toMatch(/unreachable|timed_out/)
  })

  it('when the network is a black hole, and the elector leads once it has healed', async () => {
    const { hostname, port } = new URL(election.url)
    await using proxy = await FaultProxy.start({ host: hostname, port: Number(port) })
    proxy.blackhole()
    const elector = election.join('a', { connection: through(election.url, proxy), requestTimeoutSeconds: 0.5 })
    await expect(elector.tryAcquire()).rejects.toMatchObject({ code: 'timed_out' })
    await expect(elector.tryAcquire({ timeoutSeconds: 0.1 })).rejects.toMatchObject({ code: 'timed_out' })
    const campaign = elector.campaign()
    proxy.heal()
    await campaign
    await elector.close()
  })

  it('when closed meanwhile: close settles at once, and so does a pool or client of the user (P7b, P7c)', async () => {
    const port = await listen(() => {})
    const elector = election.join('a', { connection: through(election.url, { host: '127.0.0.1', port }), requestTimeoutSeconds: 30 })
    const call = elector.tryAcquire().catch((error: unknown) => error)
    const campaign = elector.campaign().catch((error: unknown) => error)
    await new Promise((resolve) => setImmediate(resolve))
    const startedAt = performance.now()
    await elector.close()
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect(await Promise.all([call, campaign])).toMatchObject([{ code: 'closed' }, { code: 'closed' }])
    const pool = new pg.Pool({ connectionString: election.url })
    await pool.query('SELECT 1')
    await pool.end()
    await until(async () => (await election.leftovers()).sessions === 0, { what: 'the pool to be gone' })
  })
})
