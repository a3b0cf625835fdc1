import { type CoordinationError, describeValue } from '@es/coordination-core'
import type { WorkerEvent } from './worker-event.js'

/**
 * An event as data that JSON can hold, for logs and queues: tokens and epochs as decimal text, the sets of a plan as an object by instance id, an
 * error as its `name`, `message` and, where it has one, `code`; anything else that was thrown as a few words.
 */
export function workerEventToDict(event: WorkerEvent): Readonly<Record<string, unknown>> {
  const plain = event.type === 'run_failed' ? { ...event, error: describeError(event.error) } : event
  return JSON.parse(JSON.stringify(plain, replace))
}

function replace(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Map ? Object.fromEntries(value) : value
}

function describeError(error: unknown): unknown {
  if (error === null || error === undefined) return null
  if (!(error instanceof Error)) return describeValue(error)
  const { name, message, code } = error as Error & Partial<CoordinationError>
  return { name: String(name), message: String(message), ...(typeof code === 'string' ? { code } : {}) }
}
