import { beforeEach, describe, expect, it } from 'vitest'
import { type Loser, WorkLedger } from './work-ledger.js'

const a: Loser & { name: string } = { name: 'a', unclaimed: null }
const b: Loser & { name: string } = { name: 'b', unclaimed: null }
let settled: string[] = []
let ledger: WorkLedger

beforeEach(() => {
  a.unclaimed = null
  b.unclaimed = null
  settled = []
  ledger = new WorkLedger((loser) => void settled.push((loser as typeof a).name))
})

/** Who lost what that nobody lists. */
function unclaimed(): Record<string, string> {
  return Object.fromEntries([...ledger.unclaimed()].map(([name, loser]) => [name, (loser as typeof a).name]))
}

describe('what is listed', () => {
  it('is listed until the last who lists it does not any more', () => {
    ledger.relist([], ['s', 't'])
    ledger.relist([], ['s'])
    ledger.relist(['s', 't'], ['t'])
    expect([ledger.isListed('s'), ledger.isListed('t')]).toEqual([true, true])
    ledger.relist(['s'], [])
    expect([ledger.isListed('s'), ledger.isListed('t')]).toEqual([false, true])
  })

  it('cannot be lost', () => {
    ledger.relist([], ['s'])
    ledger.lose(a, ['s', 't'])
    expect(unclaimed()).toEqual({ t: 'a' })
  })
})

describe('a loss', () => {
  it('is settled as soon as anybody lists it, and stays so when that one goes (W1)', () => {
    ledger.lose(a, ['s', 't'])
    ledger.relist([], ['s'])
    expect(unclaimed()).toEqual({ t: 'a' })
    expect(settled).toEqual([])
    ledger.relist(['s'], ['t'])
    expect(settled).toEqual(['a'])
    ledger.relist(['t'], [])
    expect(unclaimed()).toEqual({})
    expect(a.unclaimed).toBe(null)
  })

  it('belongs to whoever lost it last, and is settled for all who did', () => {
    ledger.lose(a, ['s'])
    ledger.lose(b, ['s', 't'])
    expect(unclaimed()).toEqual({ s: 'b', t: 'b' })
    ledger.relist([], ['s'])
    expect(settled).toEqual(['a'])
    expect(unclaimed()).toEqual({ t: 'b' })
    expect([...(b.unclaimed ?? [])]).toEqual(['t'])
  })

  it('adds to what was lost before', () => {
    ledger.lose(a, ['s'])
    ledger.lose(a, ['t'])
    expect([...(a.unclaimed ?? [])]).toEqual(['s', 't'])
  })

  it('that is withdrawn falls back on whoever lost it before, without word of a settlement', () => {
    ledger.lose(a, ['s', 't'])
    ledger.lose(b, ['s', 't'])
    ledger.withdraw(b, 's')
    expect(unclaimed()).toEqual({ s: 'a', t: 'b' })
    ledger.withdraw(b, 't')
    expect(b.unclaimed).toBe(null)
    ledger.withdraw(a)
    expect(unclaimed()).toEqual({})
    expect([a.unclaimed, settled]).toEqual([null, []])
  })

  it('of nothing, and its withdrawal, are harmless', () => {
    ledger.lose(a, [])
    ledger.withdraw(a)
    ledger.withdraw(a, 's')
    expect([a.unclaimed, unclaimed()]).toEqual([null, {}])
  })
})
