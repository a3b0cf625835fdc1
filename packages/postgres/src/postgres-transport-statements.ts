import { escapeIdentifier } from 'pg'
import type { Statement } from './statements.js'

/** Sends the payload $2 on the channel $1. */
export const NOTIFY: Statement = { name: 'es_notify', text: 'SELECT pg_notify($1, $2)' }

/** Asks for an answer. */
export const PING: Statement = { name: 'es_ping', text: 'SELECT 1' }

/**
 * Sends the payloads $2 (text[]) on the channel $1: all of them or none, in this order, with nothing of another sender between them. One
 * transaction, in which the server would collapse payloads that are equal; frames never are.
 */
export const NOTIFY_ALL: Statement = { name: 'es_notify_all', text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload' }

/** Takes and gives up channels, in one round trip. One transaction, so that it is done altogether or not at all. */
export function relisten(add: readonly string[], drop: readonly string[]): string {
  return [
    ...add.map((channel) => `LISTEN ${escapeIdentifier(channel)}`),
    ...drop.map((channel) => `UNLISTEN ${escapeIdentifier(channel)}`),
  ].join('; ')
}
