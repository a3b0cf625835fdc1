import type { HistoryEvent } from './history-event.js'

/** What happened, in a few words and without time and instance. */
export function describeEvent(event: HistoryEvent): string {
  const note = event.note === undefined ? '' : ` (${event.note})`
  return `${wordsOf(event)}${note}`
}

function wordsOf(event: HistoryEvent): string {
  switch (event.type) {
    case 'instance_started':
      return `started as incarnation ${event.incarnation}`
    case 'elected':
      return `elected${tokenText(event.token)}${trustText(event.trustedUntil)}`
    case 'leadership_renewed':
      return `leadership renewed${trustText(event.trustedUntil)}`
    case 'leadership_lost':
      return `leadership lost${tokenText(event.token)}`
    case 'claimed':
      return `claimed ${event.subscription}${tokenText(event.token)}${trustText(event.trustedUntil)}`
    case 'claims_renewed':
      return `claims renewed${trustText(event.trustedUntil)}`
    case 'claim_lost':
      return `claim on ${event.subscription} lost${tokenText(event.token)}`
    case 'claim_released':
      return `claim on ${event.subscription} released${tokenText(event.token)}`
    case 'run_started':
      return `run of ${event.subscription} started${tokenText(event.token)}`
    case 'run_stopped':
      return `run of ${event.subscription} stopped${event.cause === undefined ? '' : `, ${event.cause}`}${tokenText(event.token)}`
    case 'event_applied':
      return `event ${event.position} of ${event.subscription} applied${tokenText(event.token)}`
    case 'checkpoint_written':
      return `checkpoint of ${event.subscription} written, position ${event.position}${tokenText(event.token)}`
    case 'checkpoint_refused':
      return `checkpoint of ${event.subscription} refused${tokenText(event.token)}`
    case 'fault':
      return `fault: ${event.kind}`
    case 'fault_began':
      return `fault begins: ${event.kind}`
    case 'fault_ended':
      return `fault ends: ${event.kind}`
    case 'end':
      return 'end of the history'
    default:
      return event.type
  }
}

function tokenText(token: bigint | null | undefined): string {
  return token === null || token === undefined ? '' : `, token ${token}`
}

function trustText(trustedUntil: number | undefined): string {
  return trustedUntil === undefined ? '' : `, trusted until ${trustedUntil.toFixed(3)}`
}
