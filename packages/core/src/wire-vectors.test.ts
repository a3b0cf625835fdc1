import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { InvalidMessageError } from './errors.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { parseInstant } from './instant.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { WorkAssignment } from './work-assignment.js'

type Dict = Readonly<Record<string, unknown>>

interface Emitted {
  readonly kind: Kind
  readonly note: string
  readonly wire: Dict
}

type Read = Emitted & ({ readonly accepted: true; readonly reads_as: Dict } | { readonly accepted: false })

type Kind = keyof typeof types

const types = { heartbeat: HeartbeatMessage, shutdown: ShutdownNotification, work_assignment: WorkAssignment }

function fixture(name: string): { readonly messages: Emitted[]; readonly cases: Read[] } {
  return JSON.parse(readFileSync(new URL(`../fixtures/wire-vectors/${name}`, import.meta.url), 'utf8'))
}

/** Dicts with their instants as milliseconds: the same instant has several spellings, and microseconds are cut. */
function comparable(dict: Dict): Dict {
  return Object.fromEntries(
    Object.entries(dict).map(([key, value]) => [
      key,
      key === 'timestamp' || key.endsWith('_at') ? parseInstant(value as string)?.getTime() : value,
    ]),
  )
}

describe('messages of the reference implementation', () => {
  it.each(fixture('emitted.json').messages)('are read and written again with the same meaning: $kind, $note', ({ kind, wire }) => {
    const written = types[kind].fromDict(wire).toDict() as unknown as Dict
    expect(comparable(written)).toEqual(comparable(wire))
    expect(Object.keys(written)).toEqual(Object.keys(wire))
  })

  it.each(fixture('read.json').cases)('are accepted or refused as there: $kind, $note', (vector) => {
    const read = (): Dict => types[vector.kind].fromDict(vector.wire).toDict() as unknown as Dict
    if (vector.accepted) expect(comparable(read())).toEqual(comparable(vector.reads_as))
    else expect(read).toThrow(InvalidMessageError)
  })
})
