import { expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { GatedTransport } from './gated-transport.js'
import { SimulatedProcess } from './simulated-process.js'

function setUp() {
  const clock = new ManualClock()
  const process = new SimulatedProcess({ clock })
  const published: string[] = []
  const inner = { publish: async (topic: string) => void published.push(topic), subscribe: async () => () => {}, onResync: () => () => {} }
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  return { clock, process, published, transport: new GatedTransport(inner, { process, logger }) }
}

it('what is cut off twice is back when both have ended, and is told once', async () => {
  const { published, transport } = setUp()
  let resyncs = 0
  transport.onResync(() => void resyncs++)
  transport.cut()
  transport.cut()
  transport.mend()
  await expect(transport.publish('t', {})).rejects.toMatchObject({ code: 'unreachable' })
  expect(resyncs).toBe(0)
  transport.mend()
  transport.mend()
  await transport.publish('t', {})
  expect([published, resyncs]).toEqual([['t'], 1])
})

it('a dead process publishes nothing, whatever still goes on in it', async () => {
  const { clock, process, published, transport } = setUp()
  await transport.publish('while alive', {})
  process.kill()
  void transport.publish('when dead', {}).then(() => expect.unreachable())
  await clock.advance(1)
  expect(published).toEqual(['while alive'])
})
