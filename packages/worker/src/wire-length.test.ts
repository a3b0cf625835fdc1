import { HeartbeatMessage, MAX_MESSAGE_TEXT_LENGTH } from '@es/coordination-core'
import { InMemoryLeaderElector, InMemoryTransport, SharedBus } from '@es/coordination-memory'
import { expect, it } from 'vitest'
import { MAX_WIRE_LENGTH, wireLength } from './wire-length.js'
import { WorkOrder } from './work-order.js'
import { parseWorkerOptions } from './worker-options.js'

/** As a transport may write it: all but printable ASCII escaped. */
const escaped = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const parse = (subscriptions: readonly string[]) =>
  parseWorkerOptions({
    ...{ instanceId: 'a', subscriptions, run: async () => {}, elector: new InMemoryLeaderElector('a') },
    transport: new InMemoryTransport({ bus: new SharedBus() }),
  })

/** So many names that they just have room. */
function fullList(make: (index: number) => string): string[] {
  const names: string[] = []
  for (let length = 0; names.length < 10_000; ) {
    const name = make(names.length)
    length += wireLength(name)
    if (length > MAX_WIRE_LENGTH) break
    names.push(name)
  }
  return names
}

it.each(['plain', 'é', '"', '日本', '\u0001', '😀'])('never counts a name for shorter than it is on the wire: %j', (name) => {
  expect(wireLength(name)).toBeGreaterThanOrEqual(escaped(name).length + 1)
})

it.each([
  ['many short names', (index: number) => `s${index}`],
  ['long names', (index: number) => `${index}`.padEnd(1000, 'x')],
  ['names that are escaped', (index: number) => `${index}`.padEnd(300, 'é')],
])('all names that an instance knows, and all that it was told and does not know, fit into its heartbeat: %s', (_name, make) => {
  const known = fullList(make)
  const { subscriptions } = parse(known)
  const order = new WorkOrder(subscriptions, () => true)
  for (let message = 0; message < 50; message++)
    order.assign(Array.from({ length: 1000 }, (_, index) => make(1_000_000 + message * 1000 + index)))
  const [id, incarnation] = ['é'.repeat(1024), 'é'.repeat(1000)]
  const heartbeat = new HeartbeatMessage({
    instanceId: id,
    timestamp: new Date(),
    subscriptions: known,
    declined: order.decline([]),
    incarnation,
    sequence: 1,
  })
  expect(heartbeat.declined.length).toBeGreaterThan(10)
  expect(escaped(heartbeat.toDict()).length).toBeLessThan(MAX_MESSAGE_TEXT_LENGTH)
})

it('more names than fit are refused from the start', () => {
  const names = fullList((index) => `${index}`.padEnd(1000, 'x'))
  expect(() => parse([...names, 'x'.repeat(1000)])).toThrow(/^the length of all subscription names must be at most 786432 in all/)
})
