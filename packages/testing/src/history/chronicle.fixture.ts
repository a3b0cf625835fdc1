import type { HistoryEvent, RunEnding } from './history-event.js'

/** Events of one instance in few words: `const a = chronicle('a')`, then `a.claimed(1, 'orders', 5)`. Tokens are numbers, times come first. */
export interface Chronicle {
  readonly id: string
  started(at: number): HistoryEvent
  stopping(at: number): HistoryEvent
  stopped(at: number): HistoryEvent
  crashed(at: number): HistoryEvent
  paused(at: number): HistoryEvent
  resumed(at: number): HistoryEvent
  elected(at: number, token: number, trustedUntil?: number): HistoryEvent
  leads(at: number, trustedUntil?: number): HistoryEvent
  unseated(at: number): HistoryEvent
  claimed(at: number, subscription: string, token: number, trustedUntil?: number): HistoryEvent
  holds(at: number, trustedUntil?: number): HistoryEvent
  lost(at: number, subscription: string): HistoryEvent
  released(at: number, subscription: string): HistoryEvent
  runs(at: number, subscription: string, token: number | null): HistoryEvent
  ends(at: number, subscription: string, cause?: RunEnding): HistoryEvent
  applied(at: number, subscription: string, position: number, token: number): HistoryEvent
  wrote(at: number, subscription: string, position: number, token: number | null, more?: { from?: number; sentAt?: number }): HistoryEvent
  refused(at: number, subscription: string, token: number): HistoryEvent
}

const trust = (trustedUntil: number | undefined) => (trustedUntil === undefined ? {} : { trustedUntil })
const tokenOf = (token: number | null) => (token === null ? null : BigInt(token))

export function chronicle(id: string): Chronicle {
  const of = <Type extends HistoryEvent['type']>(type: Type, at: number) => ({ type, at, instanceId: id })
  return {
    id,
    started: (at) => ({ ...of('instance_started', at), incarnation: `${id}-${at}` }),
    stopping: (at) => of('stopping', at),
    stopped: (at) => of('stopped', at),
    crashed: (at) => of('crashed', at),
    paused: (at) => of('paused', at),
    resumed: (at) => of('resumed', at),
    elected: (at, token, trustedUntil) => ({ ...of('elected', at), token: BigInt(token), ...trust(trustedUntil) }),
    leads: (at, trustedUntil) => ({ ...of('leadership_renewed', at), ...trust(trustedUntil) }),
    unseated: (at) => of('leadership_lost', at),
    claimed: (at, subscription, token, trustedUntil) => ({
      ...of('claimed', at),
      subscription,
      token: BigInt(token),
      ...trust(trustedUntil),
    }),
    holds: (at, trustedUntil) => ({ ...of('claims_renewed', at), ...trust(trustedUntil) }),
    lost: (at, subscription) => ({ ...of('claim_lost', at), subscription }),
    released: (at, subscription) => ({ ...of('claim_released', at), subscription }),
    runs: (at, subscription, token) => ({ ...of('run_started', at), subscription, token: tokenOf(token) }),
    ends: (at, subscription, cause) => ({ ...of('run_stopped', at), subscription, ...(cause === undefined ? {} : { cause }) }),
    applied: (at, subscription, position, token) => ({ ...of('event_applied', at), subscription, position, token: BigInt(token) }),
    wrote: (at, subscription, position, token, more) => ({
      ...of('checkpoint_written', at),
      subscription,
      position,
      token: tokenOf(token),
      ...more,
    }),
    refused: (at, subscription, token) => ({ ...of('checkpoint_refused', at), subscription, token: BigInt(token) }),
  }
}

/** The history ends. */
export function end(at: number): HistoryEvent {
  return { type: 'end', at }
}

/** A fault that lasts; it befalls everybody without an instance. */
export function lastingFault(kind: string, from: number, until: number, instanceId?: string): [HistoryEvent, HistoryEvent] {
  const details = { kind, ...(instanceId === undefined ? {} : { instanceId }) }
  return [
    { type: 'fault_began', at: from, ...details },
    { type: 'fault_ended', at: until, ...details },
  ]
}
