import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { FaultProxy, until } from '@es/coordination-testing'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PostgresTransport } from './postgres-transport.js'
import type { PostgresTransportOptions } from './postgres-transport-options.js'
import { deriveChannel } from './transport-channel.js'

const TOPIC = '__eventsource_coordination.heartbeat'

let database: TestDatabase
let admin: pg.Client

beforeAll(async () => {
  database = await createDatabase(inject('databaseUrl'))
  admin = new pg.Client(database.url)
  await admin.connect()
})

afterAll(async () => {
  await admin?.end()
  await database?.drop()
})

/** A logger that remembers its lines. */
function memoryLogger() {
  const lines: string[] = []
  const note = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  return { lines, logger: { debug() {}, info: note('info'), warn: note('warn'), error: note('error') } }
}

function newTransport(instanceId: string, options: Partial<PostgresTransportOptions> = {}): PostgresTransport {
  return new PostgresTransport({
    connection: database.url,
    requestTimeoutSeconds: 1,
    logger: memoryLogger().logger,
    instanceId,
    ...options,
  })
}

async function terminate(instanceId: string): Promise<number> {
  const { rowCount } = await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`,
    [`es-transport ${instanceId}`],
  )
  return rowCount ?? 0
}

const foreignNotify = (topic: string, payload: string): Promise<unknown> =>
  admin.query('SELECT pg_notify($1, $2)', [deriveChannel('default', topic), payload])

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

describe('publishing', () => {
  it('reaches every transport of the namespace, the sender included, in order, at sizes around and far beyond one payload (M7)', async () => {
    await using a = newTransport('a')
    await using b = newTransport('b')
    await using c = newTransport('c')
    await using stranger = newTransport('stranger', { namespace: 'other' })
    const heard = new Map<string, unknown[]>()
    for (const [name, transport] of Object.entries({ a, b, c, stranger })) {
      heard.set(name, [])
      await transport.subscribe(TOPIC, (message) => heard.get(name)?.push(message))
      await transport.subscribe('Other.Topic', () => heard.get(name)?.push('wrong topic'))
    }
    const sized = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
    const messages = [
      { tiny: true },
      sized(7998),
      sized(7999),
      sized(8000),
      sized(8001),
      { names: Array.from({ length: 400 }, (_, index) => `subscription-number-${String(index).padStart(10, '0')}`) },
      { text: 'é'.repeat(3990) },
      { text: 'é'.repeat(7990), 'schlüssel 日本語': '👩‍👩‍👧\ud800' },
      sized(100_000),
      sized(1_048_576),
      JSON.parse('{"__proto__": {"is_leader": true}, "constructor": 1, "nul": "\\u0000"}'),
    ]
    for (const message of messages) await a.publish(TOPIC, message)
    for (const name of ['a', 'b', 'c']) {
      await until(() => heard.get(name)?.length === messages.length, { what: `${name} to hear all` })
      expect(heard.get(name)).toEqual(messages)
    }
    expect(heard.get('stranger')).toEqual([])
    expect(b.counts).toEqual({ received: messages.length, malformed: 0, incomplete: 0, handlerFailures: 0 })
  })

  it('refuses what is too large or no object with a named error, and goes on', async () => {
    await using transport = newTransport('a', { maxMessageBytes: 20_000 })
    const heard: unknown[] = []
    await transport.subscribe('t', (message) => heard.push(message))
    await expect(transport.publish('t', { text: 'x'.repeat(20_000) })).rejects.toMatchObject({
      code: 'message_too_large',
      message: expect.stringContaining('20011 bytes'),
    })
    await expect(transport.publish('t', [] as never)).rejects.toMatchObject({ code: 'message_not_json' })
    await expect(transport.publish('', {})).rejects.toMatchObject({ code: 'invalid_options' })
    await transport.publish('t', { ok: true })
    await until(() => heard.length === 1, { what: 'the good message' })
  })

  it('sends one statement at a time, however many publish at once, as the driver asks', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    await using transport = newTransport('many', { healthCheckSeconds: 0.05 })
    const heard: unknown[] = []
    await transport.subscribe('t', (message) => heard.push(message))
    await Promise.all(Array.from({ length: 100 }, (_, n) => transport.publish('t', { n })))
    await until(() => heard.length === 100, { what: 'all messages' })
    // Warnings are told in a later turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it('waits for the connection that is being opened, from the first call on', async () => {
    await using transport = newTransport('lazy')
    expect(transport.isConnected).toBe(false)
    await Promise.all([transport.publish('t', { n: 1 }), transport.connect(), transport.publish('t', { n: 2 })])
    expect(transport.isConnected).toBe(true)
    const { rows } = await admin.query(`SELECT pid FROM pg_stat_activity WHERE application_name = 'es-transport lazy'`)
    expect(rows).toHaveLength(1)
  })
})

describe('subscribing', () => {
  it('listens while somebody wants to hear, whatever the order of calls made at once', async () => {
    await using transport = newTransport('a')
    const heard: string[] = []
    const first = await transport.subscribe('t', () => heard.push('first'))
    const second = transport.subscribe('t', () => heard.push('second'))
    first()
    const third = transport.subscribe('t', () => heard.push('third'))
    ;(await second)()
    const unsubscribe = await third
    first()
    await transport.publish('t', {})
    await until(() => heard.length > 0, { what: 'the message' })
    expect(heard).toEqual(['third'])
    unsubscribe()
    const again = transport.subscribe('t', () => heard.push('again'))
    await again
    await transport.publish('t', {})
    await until(() => heard.length > 1, { what: 'the next message' })
    expect(heard).toEqual(['third', 'again'])
  })

  it('gives the channel up on the server when the last handler has gone', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    await using transport = newTransport('a', { connection: through.href, healthCheckSeconds: 60 })
    const [first, second] = [await transport.subscribe('t', () => {}), await transport.subscribe('t', () => {})]
    const bytesForOne = async (): Promise<number> => {
      const before = proxy.counts.bytesToClient
      await foreignNotify('t', JSON.stringify({ text: 'x'.repeat(5000) }))
      // Whatever the server had to say about it comes before the answer to a later statement.
      await transport.publish('nobody', {})
      return proxy.counts.bytesToClient - before
    }
    first()
    expect(await bytesForOne()).toBeGreaterThan(5000)
    second()
    second()
    await transport.publish('nobody', {})
    expect(await bytesForOne()).toBeLessThan(1000)
  })

  it('hands each handler a copy of its own, and goes on when one throws, rejects or unsubscribes itself (W9)', async () => {
    const { lines, logger } = memoryLogger()
    await using transport = newTransport('a', { logger })
    const heard: unknown[] = []
    await transport.subscribe('t', (message) => {
      ;(message as { n: number }).n = -1
      throw new Error('handler failed')
    })
    await transport.subscribe('t', (async () => Promise.reject(new Error('handler rejected'))) as never)
    const once = await transport.subscribe('t', () => once())
    await transport.subscribe('t', (message) => heard.push(message))
    for (let n = 0; n < 5; n++) await transport.publish('t', { n })
    await until(() => heard.length === 5, { what: 'all messages' })
    expect(heard).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })))
    expect(lines.filter((line) => line.includes('handler'))).toHaveLength(2)
    expect(transport.counts.handlerFailures).toBe(10)
  })

  it('hands on whatever JSON somebody sent, and counts, logs once and drops what is none (W9)', async () => {
    const { lines, logger } = memoryLogger()
    await using transport = newTransport('a', { logger })
    const heard: unknown[] = []
    await transport.subscribe('t', (message) => heard.push(message))
    await transport.publish('t', { good: 1 })
    for (const garbage of [
      '',
      'hello',
      '{"a":',
      '{"load": NaN}',
      'es1;',
      'es1;x;0;99999;',
      'es1;x;5;2;a',
      'es1;x;0;2;half',
      '\u0001'.repeat(5000),
    ]) {
      await foreignNotify('t', garbage)
    }
    await foreignNotify('t', '[42]')
    await foreignNotify('t', '{"from":"python"}')
    await transport.publish('t', { good: 2 })
    await until(() => heard.length === 4, { what: 'the good messages' })
    expect(heard).toEqual([{ good: 1 }, [42], { from: 'python' }, { good: 2 }])
    expect(transport.counts).toEqual({ received: 4, malformed: 8, incomplete: 0, handlerFailures: 0 })
    expect(lines.filter((line) => line.startsWith('warn'))).toHaveLength(1)
  })
})

describe('the connection', () => {
  it('is opened again when it was ended: subscriptions are renewed, and then onResync tells', async () => {
    const { lines, logger } = memoryLogger()
    await using transport = newTransport('reopened', { logger, healthCheckSeconds: 0.1 })
    await using other = newTransport('other')
    const heard: unknown[] = []
    const resyncs: number[] = []
    await transport.subscribe('t1', (message) => heard.push(message))
    await transport.subscribe('t2', (message) => heard.push(message))
    transport.onResync(() => {
      throw new Error('resync failed')
    })
    const removed = transport.onResync(() => resyncs.push(-1))
    removed()
    transport.onResync(() => resyncs.push(resyncs.length))
    expect(await terminate('reopened')).toBe(1)
    await until(() => resyncs.length === 1, { what: 'the resync', withinSeconds: 2 })
    await other.publish('t1', { n: 1 })
    await other.publish('t2', { n: 2 })
    await until(() => heard.length === 2, { what: 'messages on the new connection' })
    // What is published in the moment of a loss waits for the connection that is being opened.
    await until(() => lines.some((line) => line.includes('works again')), { what: 'the new connection to prove itself' })
    await terminate('reopened')
    await until(() => !transport.isConnected, { what: 'the loss', everySeconds: 0.001 })
    await transport.publish('t1', { n: 3 })
    await until(() => heard.length === 3, { what: 'the message published meanwhile' })
    expect(resyncs).toEqual([0, 1])
    expect(lines.filter((line) => line.includes('resync callback failed'))).toHaveLength(2)
  })

  it('tells onResync only when the server listens again', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    await using transport = newTransport('resync', { connection: through.href })
    const heard: unknown[] = []
    await transport.subscribe('t', (message) => heard.push(message))
    transport.onResync(() => void foreignNotify('t', '{"sent":"in the callback"}'))
    // Whatever the transport would still have to send then comes later than the message.
    proxy.delay(0.05)
    proxy.cut()
    await until(() => heard.length === 1, { what: 'the message that was sent in the callback', withinSeconds: 3 })
  })

  it('that is half open is noticed by the missing echo, and publishing rejects meanwhile instead of hanging', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    await using transport = newTransport('half-open', {
      connection: through.href,
      healthCheckSeconds: 0.2,
      requestTimeoutSeconds: 0.5,
      longestRetrySeconds: 0.2,
    })
    const heard: unknown[] = []
    let resyncs = 0
    await transport.subscribe('t', (message) => heard.push(message))
    transport.onResync(() => resyncs++)
    for (const direction of [undefined, 'toClient', 'toServer'] as const) {
      proxy.blackhole(direction)
      const startedAt = performance.now()
      await until(() => !transport.isConnected, { what: 'the echo to be missed' })
      expect(performance.now() - startedAt).toBeLessThan(1500)
      await expect(transport.publish('t', {})).rejects.toMatchObject({ name: 'ConnectionError' })
      const before = resyncs
      proxy.heal()
      await until(() => resyncs > before, { what: 'the resync' })
      await transport.publish('t', { direction: direction ?? 'both' })
    }
    await until(() => heard.length === 3, { what: 'the messages afterwards' })
  })

  it('rejects at once while the server cannot be reached, with few attempts and fewer log lines, and comes back (P12)', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    const { lines, logger } = memoryLogger()
    await using transport = newTransport('refused', { connection: through.href, logger, longestRetrySeconds: 0.5 })
    let resyncs = 0
    transport.onResync(() => resyncs++)
    await transport.subscribe('t', () => {})
    proxy.refuse()
    proxy.cut()
    await until(() => lines.length >= 2, { what: 'the loss and the first refusal to be logged' })
    const startedAt = performance.now()
    await expect(transport.publish('t', {})).rejects.toMatchObject({ code: 'unreachable' })
    await expect(transport.subscribe('t2', () => {})).rejects.toMatchObject({ code: 'unreachable' })
    expect(performance.now() - startedAt).toBeLessThan(300)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    // The loss, and the one way in which all attempts fail.
    expect(lines.length).toBeLessThanOrEqual(3)
    await proxy.accept()
    await until(() => resyncs === 1, { what: 'the reconnection', withinSeconds: 1 })
  })

  it('survives 100 forced reconnections without a warning about listeners (W5)', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    const transport = newTransport('often', { healthCheckSeconds: 0.01, longestRetrySeconds: 0.01 })
    const heard: unknown[] = []
    let resyncs = 0
    transport.onResync(() => resyncs++)
    await transport.subscribe('t', (message) => heard.push(message))
    for (let round = 1; round <= 100; round++) {
      await terminate('often')
      await until(() => resyncs === round, { what: `reconnection ${round}`, everySeconds: 0.002 })
    }
    await transport.publish('t', {})
    await until(() => heard.length === 1, { what: 'a message at last' })
    await transport.close()
    process.off('warning', note)
    expect(warnings).toEqual([])
    await until(async () => (await terminate('often')) === 0, { what: 'no connection to be left' })
  }, 90_000)

  it('is refused on a server that it cannot use, and by whoever is not let in', async () => {
    const wrongPassword = new URL(database.url)
    wrongPassword.password = 'wrong'
    await using refused = newTransport('a', { connection: wrongPassword.href })
    await expect(refused.connect()).rejects.toMatchObject({ code: 'authentication_failed' })
    await using nowhere = newTransport('a', { connection: 'postgresql://127.0.0.1:1/x' })
    await expect(nowhere.subscribe('t', () => {})).rejects.toMatchObject({ code: 'unreachable' })
    expect(() => newTransport('a', { connection: admin as never })).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(() => newTransport('a', { healthCheckSeconds: 0 })).toThrow(/^healthCheckSeconds must be/)
  })

  it('behind a pooler, which answers with another pid than that of the backend, is refused', async () => {
    const { hostname, port } = new URL(database.url)
    const pooler = createServer((client) => {
      const server = connect(Number(port), hostname)
      server.on('data', (chunk) => {
        // BackendKeyData: the letter K, the length 12, a pid and a secret.
        const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
        if (at >= 0) chunk.writeInt32BE(chunk.readInt32BE(at + 5) + 1, at + 5)
        client.write(chunk)
      })
      client.on('data', (chunk) => void server.write(chunk))
      client.on('close', () => server.destroy()).on('error', () => {})
      server.on('close', () => client.destroy()).on('error', () => {})
    }).listen(0)
    await once(pooler, 'listening')
    const through = new URL(database.url)
    through.port = String((pooler.address() as AddressInfo).port)
    await using transport = newTransport('pooled', { connection: through.href })
    await expect(transport.subscribe('t', () => {})).rejects.toMatchObject({ code: 'transaction_pooler' })
    pooler.close()
  })
})

describe('closing', () => {
  it('is idempotent, bounded on a half-open connection, and rejects what is under way and what comes later', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    const transport = newTransport('a', { connection: through.href, requestTimeoutSeconds: 0.5 })
    const unsubscribe = await transport.subscribe('t', () => {})
    proxy.blackhole()
    const underWay = transport.publish('t', {})
    underWay.catch(() => {})
    const startedAt = performance.now()
    const closed = transport.close()
    expect(transport.close()).toBe(closed)
    await closed
    await expect(underWay).rejects.toMatchObject({ code: 'closed' })
    for (const call of [transport.publish('t', {}), transport.subscribe('t', () => {}), transport.connect()])
      await expect(call).rejects.toMatchObject({ code: 'closed' })
    unsubscribe()
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })

  it('in the middle of connecting ends the attempt', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    proxy.blackhole()
    const transport = newTransport('a', { connection: through.href, requestTimeoutSeconds: 30 })
    const connecting = transport.connect()
    connecting.catch(() => {})
    await transport.close()
    await expect(connecting).rejects.toMatchObject({ code: 'closed' })
  })

  it('leaves nothing that keeps a process alive (W7)', async () => {
    const { child, output } = runChild(`
      await transport.publish('t', {})
      await transport.close()
      console.log('closed')`)
    let closedAt = 0
    child.stdout.on('data', () => {
      closedAt = performance.now()
    })
    const [code] = await once(child, 'exit')
    expect([code, output()]).toEqual([0, 'closed\n'])
    expect(performance.now() - closedAt).toBeLessThan(1000)
  })

  it('is done by the server for a process that was stopped, so that it does not hold up the notification queue', async () => {
    const { child, output } = runChild(`console.log('open')`)
    await until(() => output() === 'open\n', { what: 'the child to listen' })
    const count = async (): Promise<number> =>
      (await admin.query(`SELECT FROM pg_stat_activity WHERE application_name = 'es-transport child'`)).rowCount ?? 0
    expect(await count()).toBe(1)
    child.kill('SIGSTOP')
    // Three health checks of 0.2 s and a request timeout of 0.5 s.
    await until(async () => (await count()) === 0, { what: 'the server to end the session', withinSeconds: 2 })
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
})

/** A process with a transport that listens, and then does what `rest` says. It runs what was built, as a user's does. */
function runChild(rest: string) {
  const program = `
    import { PostgresTransport } from '${new URL('../dist/index.js', import.meta.url).href}'
    const transport = new PostgresTransport({ connection: process.env.URL_OF_DATABASE, instanceId: 'child', healthCheckSeconds: 0.2, requestTimeoutSeconds: 0.5 })
    await transport.subscribe('t', () => {})
    ${rest}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: { ...process.env, URL_OF_DATABASE: database.url } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return { child, output: () => output }
}

describe('the cost', () => {
  it('of a message from publish to arrival is little more than that of a bare pg_notify', async () => {
    await using sender = newTransport('sender')
    await using listener = newTransport('listener')
    let arrived: () => void = () => {}
    await listener.subscribe('t', () => arrived())
    const [rawSender, rawListener] = [new pg.Client(database.url), new pg.Client(database.url)]
    await Promise.all([rawSender.connect(), rawListener.connect()])
    await rawListener.query('LISTEN raw')
    rawListener.on('notification', ({ payload = '' }) => {
      JSON.parse(payload)
      arrived()
    })
    const message = { instance_id: 'a', subscriptions: Array.from({ length: 20 }, (_, index) => `subscription-${index}`) }
    const ours: number[] = []
    const bare: number[] = []
    const timed = async (send: () => Promise<unknown>): Promise<number> => {
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const startedAt = performance.now()
      await Promise.all([send(), arrival])
      return performance.now() - startedAt
    }
    for (let round = 0; round < 400; round++) {
      ours.push(await timed(() => sender.publish('t', message)))
      bare.push(
        await timed(() => rawSender.query({ name: 'n', text: 'SELECT pg_notify($1, $2)', values: ['raw', JSON.stringify(message)] })),
      )
    }
    const large = { text: 'x'.repeat(100_000) }
    const ofLarge: number[] = []
    for (let round = 0; round < 50; round++) ofLarge.push(await timed(() => sender.publish('t', large)))
    await Promise.all([rawSender.end(), rawListener.end()])
    // biome-ignore lint/suspicious/noConsole: the figure is the point of the test.
    console.log(
      `publish to arrival: ${median(ours).toFixed(3)} ms, bare pg_notify ${median(bare).toFixed(3)} ms, ratio ${(median(ours) / median(bare)).toFixed(2)}; 100 KB: ${median(ofLarge).toFixed(2)} ms`,
    )
    expect(median(ours) / median(bare)).toBeLessThan(3)
  })

  it('of an idle transport is one statement for each health check', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    await using transport = newTransport('idle', { connection: through.href, healthCheckSeconds: 0.25 })
    await transport.subscribe('t', () => {})
    const before = proxy.counts.bytesToServer
    await new Promise((resolve) => setTimeout(resolve, 1100))
    // Bind, execute and sync of a prepared statement: 117 bytes or so.
    expect((proxy.counts.bytesToServer - before) / 4).toBeLessThan(150)
    expect(proxy.counts.bytesToServer).toBeGreaterThan(before)
  })
})
