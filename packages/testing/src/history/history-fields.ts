import { MAX_NAME_LENGTH } from '@es/coordination-core'
import type { HistoryEvent, RunEnding } from './history-event.js'

/** What may be in one field of an event, in JSON. */
export interface FieldKind {
  /** Ends the sentence "`name` must be …". */
  readonly rule: string
  readonly isOptional: boolean
  /** The value in memory, or `undefined` for one that is off. */
  readonly read: (value: unknown) => unknown
}

/** What was read, or `null` for a value that is off. */
export function readField({ isOptional, read }: FieldKind, value: unknown): { readonly value: unknown } | null {
  if (value === undefined) return isOptional ? { value } : null
  const result = read(value)
  return result === undefined ? null : { value: result }
}

const ENDINGS: readonly unknown[] = ['revoked', 'stopping', 'lost', 'failed', 'abandoned'] satisfies RunEnding[]
const LONGEST_TOKEN_DIGITS = 40

const required = (rule: string, read: FieldKind['read']): FieldKind => ({ rule, read, isOptional: false })
const optional = ({ rule, read }: FieldKind): FieldKind => ({ rule: `${rule}, or left out`, read, isOptional: true })
const nullable = ({ rule, read }: FieldKind): FieldKind => required(`${rule} or null`, (value) => (value === null ? null : read(value)))

const seconds = required('a finite number of seconds', (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined))
const position = required('a whole number', (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined))
const name = required(`a text of 1 to ${MAX_NAME_LENGTH} characters`, (value) =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH ? value : undefined,
)
const text = required('a text', (value) => (typeof value === 'string' ? value : undefined))
const ending = required(`one of ${ENDINGS.join(', ')}`, (value) => (ENDINGS.includes(value) ? value : undefined))
const token = required('a whole number as a decimal string', (value) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return BigInt(value as number)
  return typeof value === 'string' && value.length <= LONGEST_TOKEN_DIGITS && /^\d+$/.test(value) ? BigInt(value) : undefined
})

const any = { at: seconds, note: optional(text) }
const ofInstance = { ...any, instanceId: name }
const ofSubscription = { ...ofInstance, subscription: name }
const ofFault = { ...any, kind: name, instanceId: optional(name) }
const write = { ...ofSubscription, position, token: nullable(token), sentAt: optional(seconds) }

/** The fields of every event, by its type. */
export const HISTORY_FIELDS = {
  instance_started: { ...ofInstance, incarnation: name },
  stopping: ofInstance,
  stopped: ofInstance,
  crashed: ofInstance,
  paused: ofInstance,
  resumed: ofInstance,
  elected: { ...ofInstance, token: nullable(token), trustedUntil: optional(seconds) },
  leadership_renewed: { ...ofInstance, trustedUntil: optional(seconds) },
  leadership_lost: { ...ofInstance, token: optional(token) },
  claimed: { ...ofSubscription, token, trustedUntil: optional(seconds) },
  claims_renewed: { ...ofInstance, trustedUntil: optional(seconds) },
  claim_lost: { ...ofSubscription, token: optional(token) },
  claim_released: { ...ofSubscription, token: optional(token) },
  run_started: { ...ofSubscription, token: nullable(token) },
  run_stopped: { ...ofSubscription, token: optional(token), cause: optional(ending) },
  event_applied: write,
  checkpoint_written: { ...write, from: optional(position) },
  checkpoint_refused: { ...ofSubscription, position: optional(position), token: nullable(token) },
  fault: ofFault,
  fault_began: ofFault,
  fault_ended: ofFault,
  end: any,
} satisfies { readonly [E in HistoryEvent as E['type']]: { readonly [Key in Exclude<keyof E, 'type'>]-?: FieldKind } }
