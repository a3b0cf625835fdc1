import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Leadership } from './leadership.js'
import { RecordingLogger } from './manual-clock.test.harness.js'

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

describe('Leadership', () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason)

  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', onUnhandled)
  })

  afterEach(async () => {
    await turn()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  function make() {
    const logger = new RecordingLogger()
    return { logger, leadership: new Leadership({ identity: 'a', logger }), told: [] as boolean[] }
  }

  it('tells nobody about a loss of what was never held (E3, I1)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange((isLeader) => void told.push(isLeader))
    await leadership.change(false)
    await leadership.change(false)
    expect(told).toEqual([])
  })

  it('tells a loss once, however many notice it in the same tick (E3, I1)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange((isLeader) => void told.push(isLeader))
    await leadership.change(true)
    await Promise.all([leadership.change(false), leadership.change(false), leadership.change(false)])
    expect(told).toEqual([true, false])
  })

  it('changes its state before it tells anybody, and calls the first callback at once (I2)', () => {
    const { leadership, told } = make()
    leadership.onLeaderChange(() => void told.push(leadership.isLeader))
    void leadership.change(true)
    expect(told).toEqual([true])
  })

  it('lets a callback await the next change without deadlock, and keeps the order (E5, I3, I5)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange(async (isLeader) => {
      if (isLeader) await leadership.change(false)
    })
    leadership.onLeaderChange((isLeader) => void told.push(isLeader))
    await leadership.change(true)
    await turn()
    expect(told).toEqual([true, false])
    expect(leadership.isLeader).toBe(false)
  })

  it('lets a callback for the loss begin the next term (E5)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange(async (isLeader) => {
      told.push(isLeader)
      if (!isLeader && told.length < 4) await leadership.change(true)
    })
    await leadership.change(true)
    await leadership.change(false)
    await turn()
    expect(told).toEqual([true, false, true])
    expect(leadership.isLeader).toBe(true)
  })

  it('resolves when the callbacks of the change have run', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange(async (isLeader) => {
      await turn()
      told.push(isLeader)
    })
    await leadership.change(true)
    expect(told).toEqual([true])
  })

  it('survives callbacks that throw, reject, return anything or remove themselves (E8, I4)', async () => {
    const { leadership, logger } = make()
    const calls: string[] = []
    leadership.onLeaderChange(() => {
      throw new Error('thrown')
    })
    leadership.onLeaderChange(async () => {
      await turn()
      throw new Error('rejected')
    })
    leadership.onLeaderChange(((isLeader: boolean) => calls.push(`third ${isLeader}`)) as never)
    const once = (isLeader: boolean): void => {
      calls.push(`once ${isLeader}`)
      expect(leadership.removeLeaderChangeCallback(once)).toBe(true)
    }
    leadership.onLeaderChange(once)
    leadership.onLeaderChange((isLeader) => void calls.push(`last ${isLeader}`))
    await leadership.change(true)
    await leadership.change(false)
    expect(calls).toEqual(['third true', 'once true', 'last true', 'third false', 'last false'])
    const errors = logger.lines.filter(({ level }) => level === 'error')
    expect(errors.map(({ fields }) => [fields.identity, fields.isLeader, (fields.error as Error).message])).toEqual([
      ['a', true, 'thrown'],
      ['a', true, 'rejected'],
      ['a', false, 'thrown'],
      ['a', false, 'rejected'],
    ])
  })

  it('does not call a callback that another one removes in the same round (I4)', async () => {
    const { leadership, told } = make()
    const removed = (isLeader: boolean): void => void told.push(isLeader)
    leadership.onLeaderChange(() => void leadership.removeLeaderChangeCallback(removed))
    leadership.onLeaderChange(removed)
    await leadership.change(true)
    expect(told).toEqual([])
    expect(leadership.removeLeaderChangeCallback(removed)).toBe(false)
  })

  it('does not replay the past to a callback that comes late, whoever leads (E9)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange((isLeader) => void told.push(isLeader))
    await turn()
    expect(told).toEqual([])
    const late: boolean[] = []
    await leadership.change(true)
    leadership.onLeaderChange((isLeader) => void late.push(isLeader))
    await turn()
    expect(late).toEqual([])
    await leadership.change(false)
    expect(late).toEqual([false])
  })

  it('tells a change to those registered when it happened, not to one registered while it is told (I3)', async () => {
    const { leadership, told } = make()
    leadership.onLeaderChange((isLeader) => {
      if (isLeader) leadership.onLeaderChange((value) => void told.push(value))
    })
    await leadership.change(true)
    expect(told).toEqual([])
    await leadership.change(false)
    expect(told).toEqual([false])
  })

  it('goes on when its logger throws', async () => {
    const shown: unknown[] = []
    const { error } = console
    console.error = (...values) => void shown.push(values)
    try {
      const logger = new RecordingLogger()
      logger.error = () => {
        throw new Error('logger')
      }
      const leadership = new Leadership({ identity: 'a', logger })
      const told: boolean[] = []
      leadership.onLeaderChange(() => {
        throw new Error('mine')
      })
      leadership.onLeaderChange((isLeader) => void told.push(isLeader))
      await leadership.change(true)
      await leadership.change(false)
      expect(told).toEqual([true, false])
      expect(shown).toHaveLength(2)
    } finally {
      console.error = error
    }
  })

  it('shows a failing callback on the console when no logger is given', async () => {
    const shown: unknown[] = []
    const { error } = console
    console.error = (...values) => void shown.push(values)
    try {
      const leadership = new Leadership({ identity: 'a' })
      leadership.onLeaderChange(() => Promise.reject(new Error('mine')))
      await leadership.change(true)
    } finally {
      console.error = error
    }
    expect(shown).toEqual([
      [
        '[coordination] A leader-change callback failed; the other callbacks still run',
        { identity: 'a', isLeader: true, error: expect.objectContaining({ message: 'mine' }) },
      ],
    ])
  })
})
