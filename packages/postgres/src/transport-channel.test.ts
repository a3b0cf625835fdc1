import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveChannel, privateChannel } from './transport-channel.js'

// WIRE FORMAT. A row that has to change means that old and new processes do not hear each other during a deploy: it takes a major release.
const GOLDEN: readonly (readonly [namespace: string, topic: string, channel: string])[] = [
  ['default', HEARTBEAT_TOPIC, 'es_eventsource_coordination_heartbeat_226ed8f95368f8a1'],
  ['default', SHUTDOWN_NOTIFICATIONS_TOPIC, 'es_eventsource_coordination_shutdown_9f4f837711999674'],
  ['default', WORK_ASSIGNMENT_TOPIC, 'es_eventsource_coordination_work_assignment_adcdb91a08d6e4b3'],
  ['billing', HEARTBEAT_TOPIC, 'es_eventsource_coordination_heartbeat_6543d93a03438f7f'],
  ['default', 'Orders.Created', 'es_orders_created_1af585a549955a1f'],
  ['default', 'orders.created', 'es_orders_created_888f595c879cc41a'],
  ['default', 'é', 'es__214aa716fa0cb614'],
  ['default', '日本語', 'es__6945c46bc4152774'],
  ['default', 'a'.repeat(1024), 'es_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_73138f2c1b88f6c9'],
  ['default', '__proto__', 'es_proto_128ed43886008bc8'],
  ['default', "x'; DROP TABLE y; --", 'es_x_drop_table_y_515a9449b7067b9d'],
]

describe('deriveChannel', () => {
  it.each(GOLDEN)('never changes: namespace %j, topic %j', (namespace, topic, channel) => {
    expect(deriveChannel(namespace, topic)).toBe(channel)
  })

  it('makes an identifier of at most 63 bytes that is the same quoted or not (M7)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }), (topic) => {
        const channel = deriveChannel('default', topic)
        expect(channel).toMatch(/^es_[a-z0-9_]*_[0-9a-f]{16}$/)
        expect(channel.length).toBeLessThanOrEqual(60)
      }),
    )
  })

  it('tells topics apart that differ in case, in punctuation, in their namespace, or only beyond 63 bytes (M7)', () => {
    const long = 'x'.repeat(64)
    const topics = ['a.b', 'a_b', 'A.b', 'a.B', `${long}1`, `${long}2`, `1${long}`, `2${long}`, 'é', 'e\u0301']
    const channels = ['default', 'other'].flatMap((namespace) => topics.map((topic) => deriveChannel(namespace, topic)))
    expect(new Set(channels).size).toBe(2 * topics.length)
  })

  it('refuses a topic that is no name', () => {
    for (const topic of ['', 'x'.repeat(1025), '\ud800']) expect(() => deriveChannel('default', topic)).toThrow(/^topic must be/)
  })

  it('cannot be met by a private channel', () => {
    expect(privateChannel()).toMatch(/^es_echo_[0-9a-f]{24}$/)
    expect(privateChannel()).not.toBe(privateChannel())
  })
})
