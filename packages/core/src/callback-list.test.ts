import { describe, expect, it } from 'vitest'
import { CallbackList } from './callback-list.js'
import { RecordingLogger } from './manual-clock.test.harness.js'

describe('CallbackList', () => {
  it('calls a function as often as it was added and not removed', async () => {
    const list = new CallbackList<[number]>('test', new RecordingLogger())
    const seen: number[] = []
    const callback = (value: number): void => void seen.push(value)
    expect(list.isEmpty).toBe(true)
    list.add(callback)
    list.add(callback)
    await list.prepare(1)({})
    expect(list.remove(callback)).toBe(true)
    await list.prepare(2)({})
    expect(list.remove(callback)).toBe(true)
    expect(list.remove(callback)).toBe(false)
    expect(list.isEmpty).toBe(true)
    expect(seen).toEqual([1, 1, 2])
  })

  it('fixes its recipients when it is prepared, except for those removed since', async () => {
    const list = new CallbackList<[]>('test', new RecordingLogger())
    const seen: string[] = []
    const early = (): void => void seen.push('early')
    const removed = (): void => void seen.push('removed')
    list.add(early)
    list.add(removed)
    const tell = list.prepare()
    list.add(() => void seen.push('late'))
    list.remove(removed)
    await tell({})
    expect(seen).toEqual(['early'])
  })
})
