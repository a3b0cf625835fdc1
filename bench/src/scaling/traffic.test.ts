import { HEARTBEAT_TOPIC, type Transport, type TransportHandler, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import { expect, it } from 'vitest'
import type { Hearing } from './cell.js'
import { Traffic } from './traffic.js'

const INSTANCES = ['leader', 'a', 'b']

/** Three instances on one bus, and what the workers in them hear. */
async function setUp(hearing: Hearing) {
  const handlers: { readonly topic: string; readonly handler: TransportHandler }[] = []
  const bus: Transport = {
    publish: async (topic, message) => {
      for (const one of handlers) if (one.topic === topic) one.handler(message)
    },
    subscribe: async (topic, handler) => {
      handlers.push({ topic, handler })
      return () => {}
    },
    onResync: () => () => {},
  }
  const traffic = new Traffic({ hearing, now: () => 7, listeners: () => INSTANCES.length, isLeader: (id) => id === 'leader' })
  const heard: string[] = []
  for (const name of INSTANCES) {
    const transport = traffic.over(bus, name, name === 'a')
    await transport.subscribe(
      HEARTBEAT_TOPIC,
      (message) => void heard.push(`${name} < ${(message as { instance_id: string }).instance_id}`),
    )
    await transport.subscribe(WORK_ASSIGNMENT_TOPIC, () => void heard.push(`${name} < assignment`))
  }
  const say = async (from: string): Promise<void> => {
    heard.length = 0
    await traffic.over(bus, from, false).publish(HEARTBEAT_TOPIC, { instance_id: from, is_leader: from === 'leader' })
  }
  return { traffic, heard, say, publish: traffic.over(bus, 'leader', false).publish }
}

it('lets everything pass to all, and counts it', async () => {
  const { traffic, heard, say } = await setUp('all')
  await say('b')
  expect(heard).toEqual(['leader < b', 'a < b', 'b < b'])
  const bytes = JSON.stringify({ instance_id: 'b', is_leader: false }).length
  expect(traffic.counts).toEqual({ published: 1, publishedBytes: bytes, delivered: 3, deliveredBytes: 3 * bytes })
})

it('lets a heartbeat pass to the leader and its sender alone, and that of the leader to all', async () => {
  const { traffic, heard, say } = await setUp('leader')
  await say('b')
  expect(heard).toEqual(['leader < b', 'b < b'])
  expect(traffic.counts.delivered).toBe(2)
  await say('leader')
  expect(heard).toEqual(['leader < leader', 'a < leader', 'b < leader'])
  expect(traffic.counts.delivered).toBe(5)
})

it('writes down what one instance hears while it records, and the last assignment of each at any time', async () => {
  const { traffic, say, publish } = await setUp('all')
  await publish(WORK_ASSIGNMENT_TOPIC, { target_instance_id: 'b', subscriptions: ['s1'] })
  await publish(WORK_ASSIGNMENT_TOPIC, { target_instance_id: 'b', subscriptions: ['s2'] })
  await say('b')
  expect(traffic.heard).toEqual([])
  expect([...traffic.assignments]).toEqual([['b', { target_instance_id: 'b', subscriptions: ['s2'] }]])
  traffic.isRecording = true
  await say('leader')
  expect(traffic.heard).toEqual([{ at: 7, topic: HEARTBEAT_TOPIC, message: { instance_id: 'leader', is_leader: true } }])
})
