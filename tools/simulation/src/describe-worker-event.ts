import type { WorkerEvent } from '@es/coordination-worker'

/** What an event says that the transcript has from nowhere else; `null` when it has. */
export function describeWorkerEvent(event: WorkerEvent): string | null {
  switch (event.type) {
    case 'assignment_changed':
      return `is told to run ${list(event.subscriptions)}${event.epoch === null ? '' : ` (term ${event.epoch})`}`
    case 'leader_stepped_down':
      return `steps down: ${event.reason}`
    case 'claims_denied':
      return event.denied.length === 0 ? null : `is denied ${[...deniedByHolder(event.denied)].join(', ')}`
    case 'peer_changed':
      // Everybody meets everybody.
      if (event.status === 'healthy' && event.previous !== 'stale') return null
      return `takes ${event.instanceId} for ${event.status}`
    case 'run_failed':
      return event.retryInSeconds === null ? `declines ${event.subscription} for a while` : null
    case 'unassigned_changed':
      return event.unassigned.length === 0 ? null : `finds nobody for ${list(event.unassigned.map(({ subscription }) => subscription))}`
    default:
      return null
  }
}

function* deniedByHolder(denied: Extract<WorkerEvent, { type: 'claims_denied' }>['denied']): Generator<string> {
  for (const holder of new Set(denied.map((claim) => claim.holder))) {
    const names = denied.filter((claim) => claim.holder === holder).map(({ subscription }) => subscription)
    yield `${list(names)} (${holder === null ? 'no holder is known' : `held by ${holder}`})`
  }
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}
