import { describe, expect, it } from 'vitest'
import { checkHistory } from './check-history.js'
import { chronicle, end } from './chronicle.fixture.js'
import { formatBreaches } from './format-breaches.js'

const a = chronicle('worker-a')
const b = chronicle('b')

describe('formatBreaches', () => {
  it('says what is wrong, by which rule, and what happened around it', () => {
    const report = checkHistory([
      ...[
        a.started(1000),
        a.elected(1001, 7, 1004),
        b.started(1001),
        a.paused(1002),
        { type: 'fault', at: 1002.5, kind: 'session ended', note: 'pid 7' } as const,
      ],
      ...[b.elected(1003, 8, 1006), a.resumed(1004), a.unseated(1004), end(1005)],
    ])
    expect(formatBreaches(report)).toBe(
      [
        '1 breach in 9 events over 5.000 s',
        '',
        '1. H1 two_leaders: At no instant do two instances believe that they lead.',
        '   b led the cluster under token 8 at 3.000 s while worker-a did under token 7, from 1.000 s until 4.000 s.',
        '     0.000 s  worker-a  started as incarnation worker-a-1000',
        '   > 1.000 s  worker-a  elected, token 7, trusted until 4.000',
        '     1.000 s  b         started as incarnation b-1001',
        '     2.000 s  worker-a  paused',
        '     2.500 s            fault: session ended (pid 7)',
        '   > 3.000 s  b         elected, token 8, trusted until 6.000',
        '     4.000 s  worker-a  resumed',
        '   > 4.000 s  worker-a  leadership lost',
        '     5.000 s            end of the history',
      ].join('\n'),
    )
  })

  it('says that there is none', () => {
    expect(formatBreaches(checkHistory([a.started(0), end(12)]))).toBe('No breach in 2 events over 12.000 s')
  })

  it('prints as many as it is told to, and counts the others', () => {
    const report = checkHistory([a.ends(0, 'orders'), a.ends(1, 'orders'), a.ends(2, 'orders')])
    const text = formatBreaches(report, { limit: 1 })
    expect(text).toContain('3 breaches in 3 events')
    expect(text).toContain('1. H14 impossible')
    expect(text).not.toContain('2. H14')
    expect(text).toMatch(/and 2 more$/)
  })
})
