import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'

const NOUNS: ReadonlyMap<string, string> = new Map([
  [HEARTBEAT_TOPIC, 'heartbeats'],
  [SHUTDOWN_NOTIFICATIONS_TOPIC, 'shutdown notifications'],
  [WORK_ASSIGNMENT_TOPIC, 'assignments'],
])

/** What messages on `topic` are called in a transcript. */
export function messagesOn(topic: string): string {
  return NOUNS.get(topic) ?? `messages on ${topic}`
}
