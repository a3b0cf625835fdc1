import { setTimeout as delay } from 'node:timers/promises'
import { HEARTBEAT_TOPIC, HeartbeatMessage, SHUTDOWN_NOTIFICATIONS_TOPIC } from '@es/coordination-core'
import { PostgresTransport } from '@es/coordination-postgres'
import { Observer } from '../observer.js'
import { scratchDatabase } from '../scratch-database.js'
import type { FanOutFigures } from './server-figures.js'
import { ownSeconds, processorSeconds, sessionProcesses } from './server-processes.js'
import { subscriptionNames } from './simulate-cluster.js'

const DELIVERIES = 6000
const FEWEST_MESSAGES = 60
/** So that everybody has gone back to sleep before the next one. */
const PAUSE_MS = { least: 2, perListener: 0.05 }
const MESSAGE = new HeartbeatMessage({
  instanceId: 'instance-1',
  timestamp: new Date('2026-01-01T12:00:00Z'),
  incarnation: '6b1f5f0e-5f0c-4d43-9f5e-0d8c7c3b2a19',
  sequence: 12345,
  subscriptions: subscriptionNames(10),
}).toDict()

interface Usage {
  readonly serverSeconds: number
  readonly clientSeconds: number
}

/** Heartbeats one at a time to `listeners` connections that hear them, and to as many that listen to something else. */
export async function measureFanOut(databaseUrl: string, listeners: number): Promise<FanOutFigures> {
  const messages = Math.max(FEWEST_MESSAGES, Math.round(DELIVERIES / listeners))
  const heard = await usageOf(databaseUrl, HEARTBEAT_TOPIC, { listeners, messages })
  const elsewhere = await usageOf(databaseUrl, SHUTDOWN_NOTIFICATIONS_TOPIC, { listeners, messages })
  const alone = await usageOf(databaseUrl, HEARTBEAT_TOPIC, { listeners: 0, messages })
  const each = (usage: Usage, of: keyof Usage): number => Math.max(0, usage[of] - alone[of]) / (messages * listeners)
  return {
    listeners,
    serverSecondsHeard: each(heard, 'serverSeconds'),
    serverSecondsWoken: each(elsewhere, 'serverSeconds'),
    clientSecondsHeard: each(heard, 'clientSeconds'),
  }
}

/** What it takes to send `messages` to one who hears them, with `listeners` more who listen to `topic`. */
async function usageOf(
  databaseUrl: string,
  topic: string,
  { listeners, messages }: { readonly listeners: number; readonly messages: number },
): Promise<Usage> {
  await using database = await scratchDatabase(databaseUrl)
  await using observer = new Observer(database.url)
  // Nothing else is to wake anybody up.
  const open = (): PostgresTransport => new PostgresTransport({ connection: database.url, healthCheckSeconds: 3600 })
  await using publisher = open()
  const others = Array.from({ length: listeners }, open)
  await using _others = { [Symbol.asyncDispose]: async () => void (await Promise.all(others.map((other) => other.close()))) }
  const expected = 1 + (topic === HEARTBEAT_TOPIC ? listeners : 0)
  let arrived: () => void = () => {}
  let missing = 0
  const hear = (): void => {
    if (--missing === 0) arrived()
  }
  await publisher.subscribe(HEARTBEAT_TOPIC, hear)
  for (const other of others) await other.subscribe(topic, hear)
  const pause = Math.max(PAUSE_MS.least, PAUSE_MS.perListener * listeners)
  const send = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent++) {
      missing = expected
      await Promise.all([new Promise<void>((resolve) => (arrived = resolve)), publisher.publish(HEARTBEAT_TOPIC, { ...MESSAGE })])
      await delay(pause)
    }
  }
  await send(Math.ceil(messages / 10))
  const processes = await sessionProcesses(observer)
  const before = { server: await processorSeconds(processes), client: ownSeconds() }
  await send(messages)
  return { serverSeconds: (await processorSeconds(processes)) - before.server, clientSeconds: ownSeconds() - before.client }
}
