import { SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import type { LifeRecord } from './life-record.js'
import { enumerate } from './transcript.js'

/** Writes down what an instance tells the others, as far as it is news. */
export function narratePublished(record: LifeRecord): (topic: string, message: Readonly<Record<string, unknown>>) => void {
  const lastTold = new Map<string, string>()
  return (topic, message) => {
    if (topic === SHUTDOWN_NOTIFICATIONS_TOPIC) record.say('announces that it leaves')
    if (topic !== WORK_ASSIGNMENT_TOPIC) return
    const target = String(message.target_instance_id)
    const names = namesIn(message.subscriptions)
    const term = message.epoch === undefined ? '' : ` (term ${String(message.epoch)})`
    const what = `${names.length === 0 ? 'nothing' : enumerate(names)} to ${target}${term}`
    if (lastTold.get(target) === what) return
    lastTold.set(target, what)
    record.say(`assigns ${what}`)
  }
}

function namesIn(subscriptions: unknown): readonly string[] {
  return Array.isArray(subscriptions) ? subscriptions.map(String) : []
}
