import { describe, expect, it } from 'vitest'
import { Lineage, type Standing, type Verdict } from './lineage.js'

/** A heartbeat, or a goodbye that announces its end `endsAt`; how the receiver stands to the sender is `healthy` unless it says otherwise. */
interface Arrival {
  readonly life?: string
  readonly sequence?: number
  readonly at: number
  readonly endsAt?: number
  readonly standing?: Standing
  /** Only for heartbeats: it is the newest known one once more. `false` for another of the same stamp. */
  readonly isRepeat?: boolean
  readonly verdict: Verdict
}

function judge(lineage: Lineage, { life, sequence, at, endsAt, standing = 'healthy', isRepeat }: Arrival): Verdict {
  const stamp = { incarnation: life, sequence, atMs: at, ...(isRepeat === undefined ? {} : { isRepeat }) }
  return endsAt === undefined ? lineage.heartbeat(stamp, standing) : lineage.goodbye(stamp, endsAt, standing)
}

describe('a message is judged', () => {
  it.each<[rule: string, arrivals: readonly Arrival[]]>([
    [
      'L1: a life never heard of is adopted, whatever its stamp',
      [
        { life: 'i', sequence: 9, at: 100, verdict: 'newer' },
        { life: 'j', sequence: 1, at: 50, verdict: 'successor' },
      ],
    ],
    [
      'L2: by sequence within a life, whatever the stamps',
      [
        { life: 'i', sequence: 5, at: 100, verdict: 'newer' },
        { life: 'i', sequence: 6, at: 50, verdict: 'newer' },
        { life: 'i', sequence: 6, at: 200, verdict: 'outdated' },
        { life: 'i', sequence: 5, at: 300, verdict: 'outdated' },
      ],
    ],
    [
      'L2: by stamp without sequences, and by arrival where the stamps are equal',
      [
        { at: 100, verdict: 'newer' },
        { at: 99, verdict: 'outdated' },
        { at: 100, verdict: 'outdated' },
        { at: 100, isRepeat: false, verdict: 'newer' },
        { at: 101, verdict: 'newer' },
      ],
    ],
    [
      'L2: a clock that was set back is believed after two heartbeats in a row, of a peer that is silent otherwise',
      [
        { at: 100, verdict: 'newer' },
        { at: 50, standing: 'stale', verdict: 'outdated' },
        { at: 49, standing: 'stale', verdict: 'outdated' },
        { at: 49, standing: 'stale', verdict: 'outdated' },
        { at: 50, standing: 'stale', verdict: 'newer' },
        { at: 51, verdict: 'newer' },
      ],
    ],
    [
      'L2: a clock that was set back is not believed of a peer that is heard',
      [
        { at: 100, verdict: 'newer' },
        { at: 50, verdict: 'outdated' },
        { at: 51, verdict: 'outdated' },
      ],
    ],
    [
      'L3: a life that was replaced stays so while its successor is heard',
      [
        { life: 'i', sequence: 1, at: 10, verdict: 'newer' },
        { life: 'j', sequence: 1, at: 20, verdict: 'successor' },
        { life: 'i', sequence: 2, at: 30, verdict: 'replaced' },
      ],
    ],
    [
      'L3: three further signs of a replaced life are a rival, which is told once',
      [
        { life: 'i', sequence: 1, at: 10, verdict: 'newer' },
        { life: 'j', sequence: 1, at: 20, verdict: 'successor' },
        { life: 'i', sequence: 2, at: 30, verdict: 'replaced' },
        { life: 'i', sequence: 2, at: 30, verdict: 'replaced' },
        { life: 'i', sequence: 3, at: 31, verdict: 'replaced' },
        { life: 'i', sequence: 4, at: 32, verdict: 'rival' },
        { life: 'i', sequence: 5, at: 33, verdict: 'replaced' },
      ],
    ],
    [
      'L3: a replaced life comes back when its successor is silent, and it brings news',
      [
        { life: 'i', sequence: 7, at: 10, verdict: 'newer' },
        { life: 'h', sequence: 3, at: 5, verdict: 'successor' },
        { life: 'i', sequence: 7, at: 20, standing: 'stale', verdict: 'replaced' },
        { life: 'i', sequence: 8, at: 20, standing: 'stale', verdict: 'successor' },
        { life: 'h', sequence: 4, at: 30, verdict: 'replaced' },
      ],
    ],
    [
      'L4: a life that said goodbye is heard, and does not come back once it was removed',
      [
        { life: 'i', sequence: 1, at: 10, verdict: 'newer' },
        { life: 'i', sequence: 2, at: 20, endsAt: 50, verdict: 'newer' },
        { life: 'i', sequence: 3, at: 30, standing: 'draining', verdict: 'newer' },
        { life: 'i', sequence: 4, at: 999, standing: 'removed', verdict: 'outdated' },
      ],
    ],
    [
      'L4: without incarnations a stamp after the announced end is a new life, one at the end is not',
      [
        { at: 10, verdict: 'newer' },
        { at: 20, endsAt: 50, verdict: 'newer' },
        { at: 50, standing: 'terminated', verdict: 'newer' },
        { at: 51, standing: 'terminated', verdict: 'successor' },
        { at: 52, verdict: 'newer' },
      ],
    ],
    [
      'L4: a goodbye counts though later heartbeats of its life overtook it',
      [
        { life: 'i', sequence: 5, at: 50, verdict: 'newer' },
        { life: 'i', sequence: 4, at: 40, endsAt: 70, verdict: 'newer' },
      ],
    ],
    [
      'L4: a second goodbye changes the first while the peer drains, a repeat does not',
      [
        { life: 'i', sequence: 1, at: 10, endsAt: 40, verdict: 'newer' },
        { life: 'i', sequence: 1, at: 10, endsAt: 40, standing: 'draining', verdict: 'outdated' },
        { life: 'i', sequence: 2, at: 20, endsAt: 60, standing: 'draining', verdict: 'newer' },
        { life: 'i', sequence: 3, at: 30, endsAt: 90, standing: 'terminated', verdict: 'outdated' },
      ],
    ],
    [
      'L5: a goodbye of a life that was replaced is not heeded, nor one of an older life that nobody heard',
      [
        { life: 'i', sequence: 1, at: 10, verdict: 'newer' },
        { life: 'j', sequence: 1, at: 20, verdict: 'successor' },
        { life: 'i', sequence: 2, at: 30, endsAt: 60, verdict: 'replaced' },
        { life: 'h', sequence: 9, at: 19, endsAt: 60, verdict: 'replaced' },
        { life: 'h', sequence: 10, at: 30, verdict: 'replaced' },
        { life: 'k', sequence: 1, at: 20, endsAt: 60, verdict: 'successor' },
      ],
    ],
    [
      'a rollback to messages without incarnation is followed once the other is gone',
      [
        { life: 'i', sequence: 1, at: 10, verdict: 'newer' },
        { at: 20, verdict: 'outdated' },
        { at: 20, standing: 'stale', verdict: 'successor' },
        { life: 'j', sequence: 1, at: 5, verdict: 'successor' },
        { life: 'j', sequence: 2, at: 30, endsAt: 60, verdict: 'newer' },
        { at: 60, standing: 'stale', verdict: 'outdated' },
        { at: 61, standing: 'draining', verdict: 'successor' },
      ],
    ],
    [
      'what is left of a removed peer lets only news in',
      [
        { at: 10, verdict: 'newer' },
        { at: 10, standing: 'removed', verdict: 'outdated' },
        { at: 11, standing: 'removed', verdict: 'newer' },
        { at: 11, endsAt: 40, standing: 'removed', verdict: 'outdated' },
        { at: 12, endsAt: 40, standing: 'removed', verdict: 'newer' },
      ],
    ],
  ])('%s', (_rule, arrivals) => {
    const lineage = new Lineage(arrivals[0]?.life)
    expect(arrivals.map((arrival) => judge(lineage, arrival))).toEqual(arrivals.map(({ verdict }) => verdict))
  })

  it('with no more than four former lives in mind: an older one passes for new', () => {
    const lineage = new Lineage('i0')
    for (let life = 0; life <= 5; life++) judge(lineage, { life: `i${life}`, sequence: 1, at: life, verdict: 'successor' })
    expect(judge(lineage, { life: 'i1', sequence: 2, at: 9, verdict: 'replaced' })).toBe('replaced')
    expect(judge(lineage, { life: 'i0', sequence: 2, at: 9, verdict: 'successor' })).toBe('successor')
  })
})
