import { CoordinationError } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { chronicle, end, lastingFault } from './chronicle.fixture.js'
import { correctHistory } from './correct-cluster.fixture.js'
import type { HistoryEvent } from './history-event.js'
import { formatHistory, formatHistoryEvent, parseHistory } from './history-json.js'

const a = chronicle('a')
const b = chronicle('b')

describe('parseHistory', () => {
  it('reads what formatHistory wrote', () => {
    const events: readonly HistoryEvent[] = [
      ...[a.started(0), a.elected(1, 7, 3), a.leads(2, 4), a.claimed(3, 'orders', 8, 5), a.holds(3, 6), a.runs(3, 'orders', 8)],
      ...[
        a.applied(3, 'orders', 1, 8),
        a.wrote(3, 'orders', 1, 8, { from: 1, sentAt: 2.5 }),
        a.wrote(3, 'orders', 1, null),
        a.refused(3, 'orders', 8),
      ],
      ...[a.ends(4, 'orders', 'revoked'), a.released(4, 'orders'), a.unseated(4), a.lost(4, 'mails'), a.stopping(5), a.stopped(6)],
      ...[
        a.paused(7),
        a.resumed(8),
        a.crashed(9),
        ...lastingFault('network cut', 10, 11, 'a'),
        { type: 'fault', at: 12, kind: 'session ended', note: 'pid 7' } as const,
      ],
      end(13),
    ]
    expect(parseHistory(formatHistory(events))).toEqual(events)
    const generated = correctHistory(1)
    expect(parseHistory(formatHistory(generated))).toEqual(generated)
  })

  it('keeps tokens that are beyond what a number can hold', () => {
    const token = 2n ** 63n - 1n
    const line = formatHistoryEvent({ type: 'elected', at: 0, instanceId: 'a', token })
    expect(line).toBe('{"type":"elected","at":0,"instanceId":"a","token":"9223372036854775807"}\n')
    expect(parseHistory(line)).toEqual([{ type: 'elected', at: 0, instanceId: 'a', token }])
  })

  it('merges recordings by time, events of one instant in the order of the recordings', () => {
    const texts = [
      { name: 'a.jsonl', text: formatHistory([a.started(1), a.elected(5, 1), a.unseated(5)]) },
      { name: 'b.jsonl', text: formatHistory([b.started(0), b.elected(5, 2)]) },
    ]
    expect(parseHistory(texts)).toEqual([b.started(0), a.started(1), a.elected(5, 1), a.unseated(5), b.elected(5, 2)])
  })

  it('merges what two recorders tell of one instance', () => {
    const texts = [
      { name: 'observer', text: formatHistory([a.crashed(4)]) },
      { name: 'worker', text: formatHistory([a.started(1), a.claimed(3, 'orders', 1)]) },
      { name: 'ledger', text: formatHistory([a.wrote(2, 'mails', 1, 1), a.wrote(3, 'orders', 1, 1)]) },
    ]
    expect(parseHistory(texts)).toEqual([
      a.started(1),
      a.wrote(2, 'mails', 1, 1),
      a.claimed(3, 'orders', 1),
      a.wrote(3, 'orders', 1, 1),
      a.crashed(4),
    ])
  })

  it('keeps the order of one recorder even where its time goes back', () => {
    expect(parseHistory(formatHistory([a.started(3), a.elected(2, 1), a.unseated(4)]))).toEqual([
      a.started(3),
      a.elected(2, 1),
      a.unseated(4),
    ])
  })

  it('skips empty lines, unknown keys and carriage returns', () => {
    expect(parseHistory('\n{"type":"end","at":1,"colour":"red"}\r\n\n')).toEqual([{ type: 'end', at: 1 }])
    expect(parseHistory('')).toEqual([])
  })

  it.each([
    ['{"type":"end"', 'line 1: expected JSON'],
    ['[]', 'line 1: expected a JSON object, got an array'],
    ['{"type":"party","at":1}', 'line 1: type must be one of instance_started, stopping'],
    ['{"type":"__proto__","at":1}', 'line 1: type must be one of'],
    ['{"type":"end"}', 'line 1: at must be a finite number of seconds, got undefined'],
    ['{"type":"end","at":"1"}', 'line 1: at must be a finite number of seconds, got "1"'],
    ['{"type":"crashed","at":1}', 'line 1: instanceId must be a text of 1 to 1024 characters, got undefined'],
    ['{"type":"elected","at":1,"instanceId":"a"}', 'line 1: token must be a whole number as a decimal string or null, got undefined'],
    ['{"type":"elected","at":1,"instanceId":"a","token":"-1"}', 'token must be a whole number as a decimal string or null, got "-1"'],
    ['{"type":"elected","at":1,"instanceId":"a","token":1.5}', 'token must be a whole number as a decimal string or null, got 1.5'],
    [
      '{"type":"claimed","at":1,"instanceId":"a","subscription":"s","token":null}',
      'token must be a whole number as a decimal string, got null',
    ],
    [
      '{"type":"claimed","at":1,"instanceId":"a","subscription":"s","token":"1","trustedUntil":null}',
      'trustedUntil must be a finite number of seconds, or left out, got null',
    ],
    [
      '{"type":"checkpoint_written","at":1,"instanceId":"a","subscription":"s","token":"1","position":1.5}',
      'position must be a whole number, got 1.5',
    ],
    [
      '{"type":"run_stopped","at":1,"instanceId":"a","subscription":"s","cause":"bored"}',
      'cause must be one of revoked, stopping, lost, failed, abandoned, or left out, got "bored"',
    ],
  ])('refuses %s', (line, message) => {
    expect(() => parseHistory(line)).toThrow(message)
  })

  it('names the bad lines of every recording, and counts those beyond ten', () => {
    const bad = `${formatHistoryEvent(end(1))}nonsense\n`
    const parse = () =>
      parseHistory([
        { name: 'a.jsonl', text: bad },
        { name: 'b.jsonl', text: `${bad}\n{}\n` },
      ])
    expect(parse).toThrow(CoordinationError)
    expect(parse).toThrow(
      /^This is no history: line 2 of a\.jsonl: expected JSON; line 2 of b\.jsonl: expected JSON; line 4 of b\.jsonl: type must be one of .* got undefined$/,
    )
    expect(() => parseHistory('x\n'.repeat(12))).toThrow('line 10: expected JSON; and 2 more')
  })

  it('drops a last line that was torn when its writer was killed, if told to', () => {
    const text = `${formatHistoryEvent(a.started(0))}{"type":"elec`
    expect(() => parseHistory(text)).toThrow('line 2: expected JSON')
    expect(parseHistory(text, { tornLastLine: 'drop' })).toEqual([a.started(0)])
    expect(() => parseHistory(`${text}\n`, { tornLastLine: 'drop' })).toThrow('line 2: expected JSON')
  })
})
