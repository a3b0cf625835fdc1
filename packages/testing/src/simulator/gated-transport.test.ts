import { expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { GatedTransport } from './gated-transport.js'
import { SimulatedProcess } from './simulated-process.js'

it('a dead process publishes nothing, whatever still goes on in it', async () => {
  const clock = new ManualClock()
  const process = new SimulatedProcess({ clock })
  const published: string[] = []
  const inner = { publish: async (topic: string) => void published.push(topic), subscribe: async () => () => {}, onResync: () => () => {} }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const transport = new GatedTransport(inner, { process, logger })
  await transport.publish('while alive', {})
  process.kill()
  void transport.publish('when dead', {}).then(() => expect.unreachable())
  await clock.advance(1)
  expect(published).toEqual(['while alive'])
})
