import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { SeededRandom } from './seeded-random.js'
import { SimulatedNetwork } from './simulated-network.js'

function setUp(names: readonly string[] = ['a', 'b', 'c']) {
  const clock = new ManualClock()
  const network = new SimulatedNetwork({ clock, random: new SeededRandom(1, 'network') })
  const heard = new Map<string, number[]>(names.map((name) => [name, []]))
  for (const name of names) network.join({ name, hear: (_topic, text) => void heard.get(name)?.push(JSON.parse(text).n) })
  return { clock, network, heard }
}

describe('a simulated network', () => {
  it('brings what one sends to all, the sender included, and counts', async () => {
    const { clock, network, heard } = setUp()
    network.send('a', 't', { n: 1 })
    expect([...heard.values()]).toEqual([[], [], []])
    await clock.advance(0.01)
    expect([...heard.values()]).toEqual([[1], [1], [1]])
    expect(network.figures).toEqual({ published: 1, delivered: 3, bytes: '{"n":1}'.length })
  })

  it('brings it to very many as well', async () => {
    const { clock, network, heard } = setUp(Array.from({ length: 40 }, (_, index) => `i${index}`))
    network.send('i0', 't', { n: 1 })
    await clock.advance(0.01)
    expect([...heard.values()].every(([n]) => n === 1)).toBe(true)
  })

  it('brings to a crowd what is sent at about one time together, in order, to one after the other', async () => {
    const { clock, network, heard } = setUp(Array.from({ length: 300 }, (_, index) => `i${index}`))
    const order: string[] = []
    const leave = network.join({ name: 'last', hear: (_topic, text) => void order.push(text) })
    network.send('i0', 't', { n: 1 })
    await clock.advance(0.01)
    network.send('i1', 't', { n: 2 })
    expect([...heard.values()].every((all) => all.length === 0)).toBe(true)
    await clock.advance(0.01)
    expect([...heard.values()].every((all) => all.join() === '1,2')).toBe(true)
    expect(order).toEqual(['{"n":1}', '{"n":2}'])
    expect(network.figures).toMatchObject({ published: 2, delivered: 602 })
    network.send('i0', 't', { n: 3 })
    leave()
    await clock.advance(0.02)
    expect(order).toHaveLength(2)
    expect(heard.get('i299')).toEqual([1, 2, 3])
  })

  it('keeps the groups of a partition apart, those in no group being one', async () => {
    const { clock, network, heard } = setUp(['a', 'b', 'c', 'd'])
    const groups = new Map([['a', 0]])
    network.partitions.add(groups)
    network.send('a', 't', { n: 1 })
    network.send('b', 't', { n: 2 })
    network.partitions.delete(groups)
    await clock.advance(0.01)
    expect([...heard.values()]).toEqual([[1], [2], [2], [2]])
  })

  it('is split by each of its partitions', async () => {
    const { clock, network, heard } = setUp(['a', 'b', 'c'])
    network.partitions.add(new Map([['a', 0]]))
    network.partitions.add(new Map([['b', 0]]))
    network.send('c', 't', { n: 1 })
    await clock.advance(0.01)
    expect([...heard.values()]).toEqual([[], [], [1]])
  })

  it('brings nothing to the dead, neither what is sent nor what is on its way', async () => {
    const { clock, network } = setUp()
    network.send('a', 't', { n: 1 })
    network.drop('c')
    network.send('a', 't', { n: 2 })
    await clock.advance(0.01)
    expect(network.figures).toMatchObject({ published: 2, delivered: 4 })
  })

  it('loses, repeats and delays what matches a fault, and nothing that somebody says to itself', async () => {
    const { clock, network, heard } = setUp()
    network.faults.add({ from: 'a', loss: 1 })
    network.send('a', 't', { n: 1 })
    network.send('b', 't', { n: 2 })
    await clock.advance(0.01)
    expect([...heard.values()]).toEqual([[1, 2], [2], [2]])
    network.faults.clear()
    network.faults.add({ to: 'c', topic: 't', repeat: 1, delaySeconds: 5 })
    network.send('a', 't', { n: 3 })
    network.send('a', 'other', { n: 4 })
    await clock.advance(4.9)
    expect(heard.get('c')).toEqual([2, 4])
    await clock.advance(0.2)
    expect(heard.get('c')).toEqual([2, 4, 3, 3])
    expect([...(heard.get('b') ?? [])].sort()).toEqual([2, 3, 4])
  })

  it('reorders what it delays by chance', async () => {
    const { clock, network, heard } = setUp()
    network.faults.add({ jitterSeconds: 1 })
    const sent = Array.from({ length: 20 }, (_, n) => n)
    for (const n of sent) network.send('a', 't', { n })
    await clock.advance(2)
    expect(heard.get('b')).not.toEqual(sent)
    expect([...(heard.get('b') ?? [])].sort((one, other) => one - other)).toEqual(sent)
  })
})
