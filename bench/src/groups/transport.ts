import { HEARTBEAT_TOPIC } from '@es/coordination-core'
import { PostgresTransport } from '@es/coordination-postgres'
import pg from 'pg'
import { alternate, typicalSeconds } from '../alternate.js'
import type { Benchmark, BenchmarkContext, BenchmarkGroup, Measurement } from '../benchmark.js'
import { SERVER_TOLERANCE } from '../regression-check.js'
import { scratchDatabase } from '../scratch-database.js'
import { ratioAtMost } from '../targets.js'

const ROUNDS = 60
const EACH_ROUND = 10
const CHANNEL = 'heartbeats_of_the_same_length_of_name_as_the_others'

const message = {
  instance_id: 'projections-7d9f8b6c5-x2x4z',
  timestamp: '2026-01-01T12:00:00.000+00:00',
  subscriptions: Array.from({ length: 20 }, (_, index) => `projection-${index}`),
  in_flight_count: 3,
  is_leader: false,
  load_factor: 0.25,
}

/** Somebody who publishes, and counts how often it arrived. */
interface Broadcast extends AsyncDisposable {
  publish(): Promise<unknown>
  onArrival: () => void
}

async function overTransport(connection: string, listeners: number): Promise<Broadcast> {
  const transports = Array.from({ length: listeners + 1 }, () => new PostgresTransport({ connection }))
  const [publisher, ...rest] = transports as [PostgresTransport, ...PostgresTransport[]]
  const broadcast: Broadcast = {
    onArrival: () => {},
    publish: () => publisher.publish(HEARTBEAT_TOPIC, message),
    async [Symbol.asyncDispose]() {
      await Promise.all(transports.map((transport) => transport.close()))
    },
  }
  await publisher.connect()
  for (const listener of rest) await listener.subscribe(HEARTBEAT_TOPIC, () => broadcast.onArrival())
  return broadcast
}

async function overClients(connectionString: string, listeners: number): Promise<Broadcast> {
  const clients = Array.from({ length: listeners + 1 }, () => new pg.Client({ connectionString }))
  const [publisher, ...rest] = clients as [pg.Client, ...pg.Client[]]
  const broadcast: Broadcast = {
    onArrival: () => {},
    publish: () => publisher.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, JSON.stringify(message)] }),
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.end()))
    },
  }
  for (const client of clients) {
    // Without a listener a lost connection would end the process.
    client.on('error', () => {})
    await client.connect()
  }
  for (const listener of rest) {
    listener.on('notification', ({ payload = '' }) => {
      JSON.parse(payload)
      broadcast.onArrival()
    })
    await listener.query(`LISTEN ${CHANNEL}`)
  }
  return broadcast
}

/** Seconds from a publication to its arrival at the last listener. */
function secondsToArrive(broadcast: Broadcast, listeners: number): Promise<number> {
  return typicalSeconds(EACH_ROUND, async () => {
    const arrived = new Promise<void>((resolve) => {
      let missing = listeners
      broadcast.onArrival = () => {
        if (--missing === 0) resolve()
      }
    })
    await Promise.all([broadcast.publish(), arrived])
  })
}

async function measure({ databaseUrl }: BenchmarkContext, listeners: number): Promise<Measurement> {
  // A database each: a notification wakes up every listener in its database.
  await using ours = await scratchDatabase(databaseUrl)
  await using theirs = await scratchDatabase(databaseUrl)
  await using transport = await overTransport(ours.url, listeners)
  await using clients = await overClients(theirs.url, listeners)
  const figures = await alternate(
    ROUNDS,
    () => secondsToArrive(transport, listeners),
    () => secondsToArrive(clients, listeners),
    10,
  )
  return { unit: 'duration', ...figures }
}

function arrivalAt(listeners: number, what: string): Benchmark {
  return {
    name: `publish-to-${listeners}`,
    what,
    beside: 'a prepared `pg_notify` and `LISTEN` on as many `pg.Client`s, JSON written and read as well',
    targets: [ratioAtMost(1.3)],
    shortfall:
      'what is added is the time limit of the call, its turn on the connection, and the escaping of all but ASCII; the fewer listen, the more it shows.',
    // With a single listener who wakes up first is a matter of luck on a busy machine.
    ...(listeners > 1 ? { tolerance: SERVER_TOLERANCE } : undefined),
    run: (context) => measure(context, listeners),
  }
}

export const transport: BenchmarkGroup = {
  name: 'transport',
  needsServer: true,
  benchmarks: [
    arrivalAt(1, 'publish to arrival at one listener'),
    arrivalAt(10, 'publish to arrival at the last of 10 listeners'),
    arrivalAt(50, 'publish to arrival at the last of 50 listeners'),
  ],
}
