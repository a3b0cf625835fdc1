import type { Logger } from '@es/coordination-core'
import { expect, it } from 'vitest'
import { EventStream } from './event-stream.js'

interface Numbered {
  readonly type: 'numbered'
  readonly n: number
}

function setUp(): { stream: EventStream<Numbered>; emit: (n: number) => void; failures: unknown[] } {
  const failures: unknown[] = []
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: ({ error }) => void failures.push(error) }
  const stream = new EventStream<Numbered>(logger, 'a')
  return { stream, failures, emit: (n) => stream.emit({ type: 'numbered', n }) }
}

/** Lets the listeners be told. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('tells nobody inside the step in which something happens', async () => {
  const { stream, emit } = setUp()
  const heard: number[] = []
  stream.listen(({ n }) => heard.push(n))
  emit(1)
  expect(heard).toEqual([])
  await turn()
  expect(heard).toEqual([1])
})

it('tells all of one event before anybody of the next, also of one that a listener causes', async () => {
  const { stream, emit } = setUp()
  const heard: string[] = []
  stream.listen(({ n }) => {
    heard.push(`first ${n}`)
    if (n < 3) emit(n + 1)
  })
  stream.listen(({ n }) => heard.push(`second ${n}`))
  emit(1)
  await turn()
  expect(heard).toEqual(['first 1', 'second 1', 'first 2', 'second 2', 'first 3', 'second 3'])
})

it('tells a listener of what happens from its registration to its removal, and of nothing else', async () => {
  const { stream, emit } = setUp()
  const heard: number[] = []
  emit(1)
  const unlisten = stream.listen(({ n }) => heard.push(n))
  emit(2)
  await turn()
  emit(3)
  unlisten()
  unlisten()
  emit(4)
  await turn()
  expect(heard).toEqual([2])
})

it('logs what a listener throws or rejects with, and waits for nobody', async () => {
  const { stream, emit, failures } = setUp()
  const heard: number[] = []
  stream.listen(() => {
    throw new Error('thrown')
  })
  stream.listen(() => Promise.reject(new Error('rejected')))
  stream.listen(() => new Promise(() => {}))
  stream.listen(({ n }) => heard.push(n))
  emit(1)
  emit(2)
  await turn()
  expect(heard).toEqual([1, 2])
  expect(failures.map(String).sort()).toEqual(['Error: rejected', 'Error: rejected', 'Error: thrown', 'Error: thrown'])
})
