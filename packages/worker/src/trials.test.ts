import { describe, expect, it } from 'vitest'
import type { ClusterView } from './cluster-view.js'
import { decideTrials, NO_TRIALS, type TrialMemory, type Trials } from './trials.js'
import { instance, view } from './views.test.harness.js'

const OPTIONS = { heartbeatTimeoutSeconds: 15, declineSeconds: 60 }

interface Moment {
  readonly now: number
  readonly told?: readonly string[]
  readonly holders?: Readonly<Record<string, string>> | null
  readonly ids?: readonly string[]
}

/** What is known at a moment: `a` leads and holds something, unless it says otherwise. */
function at({ now, told = [], holders = { s1: 'a' }, ids = ['a', 'b', 'c', 'd'] }: Moment): ClusterView {
  const observation = holders === null ? null : { at: now, holders: new Map(Object.entries(holders)) }
  return view(
    ids.map((id) => instance(id)),
    { now, told: new Set(told), observation },
  )
}

/** Decides for each moment in turn, each time with the memory of the one before. */
function decide(moments: readonly Moment[], before: TrialMemory = NO_TRIALS): Trials {
  let memory: TrialMemory = before
  let trials: Trials | undefined
  for (const moment of moments) {
    const one = at(moment)
    trials = decideTrials(one, new Set(one.instances.map(({ instanceId }) => instanceId)), OPTIONS, memory)
    memory = trials
  }
  return trials as Trials
}

const barred = (trials: Trials): string[] => [...trials.barred].sort()

describe('an instance that takes nothing of what it is told to run', () => {
  it('has failed after a heartbeat timeout, and not before (I1)', () => {
    expect(
      barred(
        decide([
          { now: 0, told: ['b'] },
          { now: 14.9, told: ['b'] },
        ]),
      ),
    ).toEqual([])
    const failed = decide([
      { now: 0, told: ['b'] },
      { now: 15, told: ['b'] },
    ])
    expect([...failed.failures]).toEqual([['b', { at: 15, times: 1 }]])
    expect(failed.barred).toContain('b')
  })

  it('is waited for anew when it has been told nothing in between (I1)', () => {
    const trials = decide([{ now: 0, told: ['b'] }, { now: 10 }, { now: 12, told: ['b'] }, { now: 20, told: ['b'] }])
    expect(trials.failures.size).toBe(0)
    expect(trials.deadlines).toEqual([27])
  })

  it('has not while nobody at all holds a claim: then the fault is not its own (I1)', () => {
    const nobody = { told: ['b', 'c'], holders: {} }
    const trials = decide([
      { now: 0, ...nobody },
      { now: 100, ...nobody },
      { now: 110, told: ['b', 'c'] },
    ])
    expect(trials.failures.size).toBe(0)
  })

  it('cannot be told where there is no look at the claims', () => {
    const trials = decide([
      { now: 0, told: ['b'], holders: null },
      { now: 100, told: ['b'], holders: null },
    ])
    expect(trials.failures.size).toBe(0)
    expect(barred(trials)).toEqual([])
  })

  it('may also be one that held claims before (I1)', () => {
    const trials = decide([
      { now: 0, told: ['b'], holders: { s1: 'a', s2: 'b' } },
      { now: 10, told: ['b'] },
      { now: 25, told: ['b'] },
    ])
    expect([...trials.failures.keys()]).toEqual(['b'])
    expect(trials.proven.has('b')).toBe(false)
  })

  it('is never the leader itself, nor one that claims nothing by its nature', () => {
    const reference = view([instance('a'), instance('py', { usesClaims: false })], {
      ...{ now: 100, told: new Set(['a', 'py']), observation: { at: 100, holders: new Map([['s', 'x']]) } },
    })
    const memory = {
      ...NO_TRIALS,
      idleSince: new Map([
        ['a', 0],
        ['py', 0],
      ]),
    }
    expect(decideTrials(reference, new Set(['a', 'py']), OPTIONS, memory).failures.size).toBe(0)
  })
})

describe('while one has failed', () => {
  const failed = decide([
    { now: 0, told: ['b'] },
    { now: 15, told: ['b'] },
  ])

  it('newcomers are tried one at a time, the newest first (I2, I3)', () => {
    expect(failed.onTrial).toBe('d')
    expect(barred(failed)).toEqual(['b', 'c'])
    const next = decide(
      [
        { now: 16, told: ['d'] },
        { now: 17, told: ['d'], holders: { s1: 'a', s2: 'd' } },
      ],
      failed,
    )
    expect(next.onTrial).toBe('c')
    expect(barred(next)).toEqual(['b'])
  })

  it('those that hold something, or did, go on as before (I2, I4)', () => {
    const proven = decide([
      { now: 0, told: ['b'], holders: { s1: 'a', s2: 'c' } },
      { now: 15, told: ['b'] },
    ])
    expect(proven.onTrial).toBe('d')
    expect(barred(proven)).toEqual(['b'])
  })

  it('a trial is not cut short by a newcomer, and ends with a failure of its own (I2, I3)', () => {
    const during = decide(
      [
        { now: 16, told: ['d'] },
        { now: 20, told: ['d'], ids: ['a', 'b', 'c', 'd', 'e'] },
      ],
      failed,
    )
    expect(during.onTrial).toBe('d')
    const after = decide([{ now: 31, told: ['d'], ids: ['a', 'b', 'c', 'd', 'e'] }], during)
    expect(after.onTrial).toBe('e')
    expect(barred(after)).toEqual(['b', 'c', 'd'])
  })

  it('it is tried again after declineSeconds, then after twice that, and at last after sixteen times that (I3)', () => {
    const only = { ids: ['a', 'b'] }
    let memory: Trials = decide([{ now: 15, ...only }], { ...failed, onTrial: null })
    let now = 15
    const pauses: number[] = []
    for (let round = 0; round < 6; round++) {
      const tried = memory.deadlines.find((deadline) => deadline > now) ?? Number.NaN
      pauses.push(tried - now)
      expect(decide([{ now: tried - 0.1, ...only }], memory).onTrial).toBeNull()
      now = tried + 16
      memory = decide(
        [
          { now: tried, ...only },
          { now: tried + 1, told: ['b'], ...only },
          { now, told: ['b'], ...only },
        ],
        memory,
      )
      expect(memory.onTrial).toBeNull()
    }
    expect(pauses).toEqual([60, 120, 240, 480, 960, 960])
  })

  it('all is forgotten once it holds a claim, or is gone (I4)', () => {
    const well = decide([{ now: 20, holders: { s1: 'a', s2: 'b' } }], failed)
    expect([well.failures.size, well.onTrial, barred(well)]).toEqual([0, null, []])
    const gone = decide([{ now: 20, ids: ['a', 'c', 'd'] }], failed)
    expect([gone.failures.size, gone.onTrial, barred(gone)]).toEqual([0, null, []])
  })
})
