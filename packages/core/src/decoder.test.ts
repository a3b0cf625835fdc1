import { describe, expect, it, vi } from 'vitest'
import { MAX_MESSAGE_TEXT_LENGTH, MessageDecoder } from './decoder.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { RecordingLogger } from './manual-clock.test.harness.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
import { WorkAssignment } from './work-assignment.js'

const instant = '2026-03-01T12:00:00+00:00'
const dicts = {
  [HEARTBEAT_TOPIC]: { instance_id: 'w', timestamp: instant },
  [SHUTDOWN_NOTIFICATIONS_TOPIC]: { instance_id: 'w', intent: 'graceful', initiated_at: instant, expected_completion_at: instant },
  [WORK_ASSIGNMENT_TOPIC]: { target_instance_id: 'a', subscriptions: [], source_instance_id: 'b', assigned_at: instant },
}

describe('MessageDecoder', () => {
  it('reads the message that the topic carries, from text and from objects', () => {
    const decoder = new MessageDecoder()
    for (const [topic, type] of [
      [HEARTBEAT_TOPIC, HeartbeatMessage],
      [SHUTDOWN_NOTIFICATIONS_TOPIC, ShutdownNotification],
      [WORK_ASSIGNMENT_TOPIC, WorkAssignment],
    ] as const) {
      expect(decoder.decode(topic, dicts[topic])).toBeInstanceOf(type)
      expect(decoder.decode(topic, JSON.stringify(dicts[topic]))).toBeInstanceOf(type)
    }
    expect(decoder.droppedCount).toBe(0)
  })

  it('drops what it cannot read, counts each, and logs each kind once with its topic (W9)', () => {
    const logger = new RecordingLogger()
    const decoder = new MessageDecoder({ logger })
    for (let round = 0; round < 3; round++) {
      expect(decoder.decode(HEARTBEAT_TOPIC, '{')).toBeNull()
      expect(decoder.decode(HEARTBEAT_TOPIC, {})).toBeNull()
      expect(decoder.decode(WORK_ASSIGNMENT_TOPIC, null)).toBeNull()
      expect(decoder.decode(`other-${round}`, dicts[HEARTBEAT_TOPIC])).toBeNull()
    }
    expect(decoder.dropped).toEqual([
      { topic: HEARTBEAT_TOPIC, fault: 'not_json', count: 3 },
      { topic: HEARTBEAT_TOPIC, fault: 'invalid_message', count: 3 },
      { topic: WORK_ASSIGNMENT_TOPIC, fault: 'invalid_message', count: 3 },
      { topic: null, fault: 'unknown_topic', count: 3 },
    ])
    expect(decoder.droppedCount).toBe(12)
    expect(logger.lines.map(({ fields }) => fields.topic)).toEqual([HEARTBEAT_TOPIC, HEARTBEAT_TOPIC, WORK_ASSIGNMENT_TOPIC, '"other-0"'])
  })

  it('drops the bare NaN and Infinity that Python writes, and the null that JavaScript writes, and reads the next message (M5)', () => {
    const decoder = new MessageDecoder({ logger: new RecordingLogger() })
    for (const load of ['NaN', 'Infinity', '-Infinity', 'null', '1e999']) {
      expect(decoder.decode(HEARTBEAT_TOPIC, `{"instance_id":"w","timestamp":"${instant}","load_factor":${load}}`)).toBeNull()
    }
    expect(decoder.decode(HEARTBEAT_TOPIC, dicts[HEARTBEAT_TOPIC])).not.toBeNull()
    expect(decoder.dropped.map(({ fault, count }) => [fault, count])).toEqual([
      ['not_json', 3],
      ['invalid_message', 2],
    ])
  })

  it('does not look at text that is too long', () => {
    const decoder = new MessageDecoder({ logger: new RecordingLogger() })
    const text = JSON.stringify(dicts[HEARTBEAT_TOPIC])
    expect(decoder.decode(HEARTBEAT_TOPIC, text.padEnd(MAX_MESSAGE_TEXT_LENGTH, ' '))).not.toBeNull()
    expect(decoder.decode(HEARTBEAT_TOPIC, text.padEnd(MAX_MESSAGE_TEXT_LENGTH + 1, ' '))).toBeNull()
    expect(decoder.dropped).toEqual([{ topic: HEARTBEAT_TOPIC, fault: 'too_long', count: 1 }])
  })

  it('survives deep nesting, objects that throw when read, and a logger that throws', () => {
    const decoder = new MessageDecoder({
      logger: {
        ...new RecordingLogger(),
        warn() {
          throw new Error('logger')
        },
      },
    })
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('get')
        },
      },
    )
    const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      expect(decoder.decode(HEARTBEAT_TOPIC, hostile)).toBeNull()
      expect(decoder.decode(HEARTBEAT_TOPIC, '['.repeat(500_000))).toBeNull()
      const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
      expect(decoder.decode(SHUTDOWN_NOTIFICATIONS_TOPIC, `{"instance_id":"w","metadata":${deep}}`)).toBeNull()
    } finally {
      shown.mockRestore()
    }
    expect(decoder.dropped.map(({ fault }) => fault)).toEqual(['unreadable', 'not_json', 'invalid_message'])
  })

  it('logs nothing of the input', () => {
    const logger = new RecordingLogger()
    const decoder = new MessageDecoder({ logger })
    decoder.decode(HEARTBEAT_TOPIC, 'secret')
    decoder.decode(HEARTBEAT_TOPIC, { instance_id: 'secret', timestamp: 'secret' })
    expect(logger.lines.map(({ fields, message }) => `${message} ${String(fields.error)} ${JSON.stringify(fields)}`).join()).not.toContain(
      'secret',
    )
  })
})
