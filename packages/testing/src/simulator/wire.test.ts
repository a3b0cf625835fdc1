import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { SeededRandom } from './seeded-random.js'
import { SimulatedProcess } from './simulated-process.js'
import { type BackendFault, Wire } from './wire.js'

function setUp() {
  const clock = new ManualClock()
  const process = new SimulatedProcess({ clock })
  const faults: BackendFault[] = []
  const wire = new Wire({ clock, process, random: new SeededRandom(1, 'wire'), faults: () => faults })
  const done: string[] = []
  const ask = (name: string): Promise<string> => {
    const answer = wire.request(() => {
      done.push(name)
      return name
    })
    answer.then(
      () => answers.push(name),
      (error) => answers.push(`${name}: ${error.code}`),
    )
    return answer
  }
  const answers: string[] = []
  return { clock, process, faults, wire, done, answers, ask }
}

describe('a wire', () => {
  it('carries requests in order, and their answers and failures back', async () => {
    const { clock, wire, done, answers, ask } = setUp()
    for (const name of ['a', 'b', 'c']) void ask(name)
    const failing = wire.request(() => {
      throw new Error('no')
    })
    failing.catch(() => {})
    expect(done).toEqual([])
    await clock.advance(0.01)
    expect(done).toEqual(['a', 'b', 'c'])
    expect([...answers].sort()).toEqual(['a', 'b', 'c'])
    await expect(failing).rejects.toThrow('no')
  })

  it('of a backend that refuses has nothing done', async () => {
    const { clock, faults, done, answers, ask } = setUp()
    faults.push({ refuses: true })
    ask('a').catch(() => {})
    await clock.advance(0.01)
    expect(done).toEqual([])
    expect(answers).toEqual(['a: unreachable'])
  })

  it('of a backend that answers late has it done at once', async () => {
    const { clock, faults, done, answers, ask } = setUp()
    faults.push({ lateSeconds: 5 })
    void ask('a')
    await clock.advance(4.9)
    expect(done).toEqual(['a'])
    expect(answers).toEqual([])
    await clock.advance(0.2)
    expect(answers).toEqual(['a'])
  })

  it('that is cut brings what was on its way when it is mended, both ways', async () => {
    const { clock, faults, wire, done, answers, ask } = setUp()
    faults.push({ isCut: true })
    void ask('a')
    await clock.advance(10)
    expect(done).toEqual([])
    faults.pop()
    wire.mend()
    await clock.advance(0.01)
    expect(done).toEqual(['a'])
    expect(answers).toEqual(['a'])
  })

  it('keeps answers from a process that is paused, and from one that is dead', async () => {
    const { clock, process, done, answers, ask } = setUp()
    process.pause()
    void ask('a')
    await clock.advance(1)
    expect(done).toEqual(['a'])
    expect(answers).toEqual([])
    process.resume()
    await clock.advance(0)
    expect(answers).toEqual(['a'])
    void ask('b')
    process.kill()
    await clock.advance(1)
    expect(done).toEqual(['a', 'b'])
    expect(answers).toEqual(['a'])
  })
})
