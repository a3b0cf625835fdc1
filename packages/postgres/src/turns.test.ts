import { describe, expect, it } from 'vitest'
import { Turns } from './turns.js'

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve = (): void => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

describe('Turns', () => {
  it('runs tasks one at a time, in the order in which they asked (L6)', async () => {
    const turns = new Turns()
    const log: string[] = []
    const gates = [deferred(), deferred(), deferred()]
    const tasks = gates.map(({ promise }, index) =>
      turns.take(async () => {
        log.push(`start ${index}`)
        await promise
        log.push(`end ${index}`)
      }),
    )
    gates[2]?.resolve()
    gates[1]?.resolve()
    gates[0]?.resolve()
    await Promise.all(tasks)
    expect(log).toEqual(['start 0', 'end 0', 'start 1', 'end 1', 'start 2', 'end 2'])
  })

  it('starts the task of an idle queue before it returns, and says when it is idle', async () => {
    const turns = new Turns()
    let started = false
    const gate = deferred()
    expect(turns.isIdle).toBe(true)
    const task = turns.take(() => {
      started = true
      return gate.promise
    })
    expect(started).toBe(true)
    expect(turns.isIdle).toBe(false)
    gate.resolve()
    await task
    expect(turns.isIdle).toBe(true)
  })

  it('goes on after a task that rejects or throws, and passes its failure to its own caller only', async () => {
    const turns = new Turns()
    const failed = turns.take(() => Promise.reject(new Error('rejected')))
    const threw = turns.take(() => {
      throw new Error('thrown')
    })
    const fine = turns.take(async () => 'fine')
    await expect(failed).rejects.toThrow('rejected')
    await expect(threw).rejects.toThrow('thrown')
    await expect(fine).resolves.toBe('fine')
    expect(turns.isIdle).toBe(true)
  })

  it('lets a task that asks for another turn in its first lines keep its own (E5, L6)', async () => {
    const turns = new Turns()
    const log: string[] = []
    const gate = deferred()
    let nested: Promise<void> | undefined
    const outer = turns.take(async () => {
      nested = turns.take(async () => {
        log.push('nested')
        await gate.promise
        log.push('nested ends')
      })
      log.push('outer')
    })
    const third = turns.take(async () => {
      log.push('third')
    })
    await outer
    gate.resolve()
    await Promise.all([nested, third])
    expect(log).toEqual(['outer', 'nested', 'nested ends', 'third'])
  })
})
