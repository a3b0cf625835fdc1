import {
  bindCoordinator,
  COORDINATION_TOPIC_PREFIX,
  HEARTBEAT_TOPIC,
  SHUTDOWN_NOTIFICATIONS_TOPIC,
  WORK_ASSIGNMENT_TOPIC,
  WorkRedistributionCoordinator,
} from '@es/coordination-core'
import { until } from '@es/coordination-testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PostgresCoordination } from './postgres-coordination.js'
import { RecordingLogger } from './recording-logger.test.harness.js'
import { type GuardedDatabase, guardedDatabase } from './strangers.test.harness.js'
import { deriveChannel } from './transport-channel.js'

const MAX_PEERS = 1000
const INSTANT = '2026-03-01T12:00:00.000+00:00'

let database: GuardedDatabase
let stranger: pg.Client

beforeAll(async () => {
  database = await guardedDatabase(inject('databaseUrl'))
  stranger = new pg.Client(await database.newRole({ mayConnect: true }))
  await stranger.connect()
})

afterAll(async () => {
  await stranger?.end()
  await database?.[Symbol.asyncDispose]()
})

/** Sends payloads as fast as the server takes them, unique so that it does not collapse them. */
const flood = (topic: string, payloads: readonly string[]): Promise<unknown> =>
  stranger.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [deriveChannel('default', topic), payloads])

const many = (count: number, make: (index: number) => string): string[] => Array.from({ length: count }, (_, index) => make(index))

/** One instance: all that it has on the server, and a coordinator that listens. */
async function join(instanceId: string, connection: string) {
  const logger = new RecordingLogger()
  // Generous, because the flood, two instances and the one who floods share one process here.
  const timings = { leaseSeconds: 30, requestTimeoutSeconds: 60 }
  const made = new PostgresCoordination({ instanceId, connection, logger, ...timings })
  const coordinator = new WorkRedistributionCoordinator({ instanceId, incarnation: `life of ${instanceId}`, maxPeers: MAX_PEERS, logger })
  const binding = await bindCoordinator(coordinator, made.transport, { logger })
  const beat = (): Promise<void> => binding.publish(coordinator.createHeartbeat({ subscriptions: [`work of ${instanceId}`] }))
  return { instanceId, made, coordinator, binding, logger, beat }
}

it('a flood of huge, malformed and forged notifications, and of made-up peers, takes nothing down, grows nothing without bound, and is over when it ends', async () => {
  const rejections: unknown[] = []
  const onRejection = (reason: unknown): void => void rejections.push(reason)
  process.on('unhandledRejection', onRejection)
  const role = await database.newRole({ mayConnect: true })
  const a = await join('a', role)
  const b = await join('b', role)
  try {
    // Nothing is locked until the server is older than a lease.
    await until(() => a.made.elector.tryAcquire(), { what: 'a to lead', withinSeconds: 60 })
    const { claimed } = await a.made.ownership.claim(['s1', 's2'])
    expect(claimed).toHaveLength(2)
    await a.beat()
    await b.beat()
    const heardOfEachOther = (): boolean =>
      a.coordinator.getPeer('b')?.status === 'healthy' && b.coordinator.getPeer('a')?.status === 'healthy'
    await until(heardOfEachOther, { what: 'both to hear each other' })

    const dict = (fields: object): string => JSON.stringify({ timestamp: INSTANT, ...fields })
    for (let round = 0; round < 5; round++) {
      // Made-up peers, 20,000 of them each time, always other ones.
      await flood(
        HEARTBEAT_TOPIC,
        many(20_000, (index) => dict({ instance_id: `ghost-${round}-${index}`, incarnation: 'i', sequence: 1 })),
      )
      // Frames of messages that never end, frames that are none, and garbage as large as it can be.
      await flood(
        HEARTBEAT_TOPIC,
        many(500, (index) => `es1;${round}-${index};${index % 3};200;${'x'.repeat(7900)}`),
      )
      await flood(
        HEARTBEAT_TOPIC,
        many(2000, (index) => `es1;${index};${index};${index % 7};${index}`),
      )
      await flood(
        HEARTBEAT_TOPIC,
        many(2000, (index) => `${'['.repeat(3000)}${round} ${index}`),
      )
      await flood(
        `${COORDINATION_TOPIC_PREFIX}.other`,
        many(500, (index) => `${round} ${index}`),
      )
      // Words in the name of the others.
      const forged = { instance_id: 'b', incarnation: b.coordinator.incarnation, sequence: 2 ** 52 + round }
      await flood(HEARTBEAT_TOPIC, [dict(forged)])
      await flood(
        SHUTDOWN_NOTIFICATIONS_TOPIC,
        many(100, (index) =>
          dict({
            ...forged,
            intent: 'graceful',
            initiated_at: INSTANT,
            expected_completion_at: '2099-01-01T00:00:00Z',
            sequence: round * 1000 + index,
          }),
        ),
      )
      await flood(
        WORK_ASSIGNMENT_TOPIC,
        many(100, (index) =>
          dict({
            target_instance_id: 'b',
            source_instance_id: 'a',
            subscriptions: [],
            assigned_at: INSTANT,
            epoch: String(2n ** 64n - 1n),
            revision: round * 100 + index,
          }),
        ),
      )
      await b.beat()
      await a.beat()
      expect(a.coordinator.knownPeers.size).toBeLessThanOrEqual(MAX_PEERS)
    }
    // Everything that was sent has been taken in, and the words of the real ones count again.
    await until(
      async () => {
        await Promise.all([a.beat(), b.beat()])
        return heardOfEachOther() && a.coordinator.getPeer('b')?.subscriptions[0] === 'work of b'
      },
      { what: 'both to hear each other again', withinSeconds: 90 },
    )
    for (const { made, coordinator, logger } of [a, b]) {
      expect(coordinator.knownPeers.size).toBeLessThanOrEqual(MAX_PEERS)
      expect(made.transport.counts.malformed).toBeGreaterThan(10_000)
      expect(made.transport.isConnected).toBe(true)
      expect(logger.loud.length).toBeLessThan(200)
    }
    // Claims and leadership are out of reach of words.
    expect(claimed.map(({ isHeld }) => isHeld)).toEqual([true, true])
    expect(a.made.elector.isLeader).toBe(true)
    expect((await b.made.ownership.observe(['s1', 's2'])).get('s1')?.instanceId).toBe('a')
    expect(rejections).toEqual([])
  } finally {
    for (const { binding, made } of [a, b]) {
      binding.unbind()
      await made.close()
    }
    process.off('unhandledRejection', onRejection)
  }
}, 180_000)
