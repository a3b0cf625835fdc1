import { existsSync } from 'node:fs'
import { until } from '@es/coordination-testing'
import { describe, expect, it, test } from 'vitest'
import { CHAOS_LIMIT, startChaos } from './chaos-program.test.harness.js'

describe('the judge finds', () => {
  // The rules are those of which one is broken at least. A long lease leaves others the time to take over before a slow clock has run out.
  test.for([
    ['ignore-token --faults pause_above_lease', ['events applied twice', 'writes of a stale owner'], ['stale_write']],
    ['double-run --faults pause_below_lease', ['breaches in the history'], ['impossible', 'two_runs']],
    ['skip --faults kill', ['events lost', 'projections that equal the log'], ['event_lost']],
    [
      'slow-clock --faults pause_above_lease,answers_lost,link_down --lease-seconds 2.5',
      ['breaches in the history'],
      ['two_owners', 'two_leaders'],
    ],
    ['sluggish --faults kill', ['breaches in the history'], ['without_owner']],
  ] as const)('--sabotage %s', CHAOS_LIMIT, async ([sabotage, checks, rules]) => {
    const run = startChaos('--minutes', '0.1', '--seed', '10', '--sabotage', ...sabotage.split(' '))
    expect(await run.ended(), run.output).toBe(1)
    const report = run.report()
    expect(report.holds).toBe(false)
    const failed = report.checks.filter(({ isFine }) => !isFine).map(({ name }) => name)
    expect(failed, run.output).toEqual(expect.arrayContaining([...checks]))
    const broken = new Set(report.breaches.map(({ rule }) => rule))
    expect(
      rules.some((rule) => broken.has(rule)),
      run.output,
    ).toBe(true)
  })
})

describe('nothing is left behind', () => {
  it('after SIGINT', CHAOS_LIMIT, async () => {
    const run = startChaos('--minutes', '0.3', '--faults', 'pause_above_lease')
    await run.printed('burst 1 of')
    await until(() => run.hasStopped(), { what: 'a worker that stands still', withinSeconds: 30 })
    run.kill('SIGINT')
    expect(await run.ended(), run.output).toBe(130)
    expect(run.leftovers()).toEqual([])
    expect(run.folder).toBeNull()
  })

  it('after SIGKILL, not even a worker that stood still', CHAOS_LIMIT, async () => {
    const run = startChaos('--minutes', '0.3', '--faults', 'pause_above_lease')
    await run.printed('burst 1 of')
    await until(() => run.hasStopped(), { what: 'a worker that stands still', withinSeconds: 30 })
    run.kill('SIGKILL')
    expect(await run.ended()).toBe('SIGKILL')
    await until(() => run.leftovers().length === 0, { what: 'its processes and namespaces to be gone', withinSeconds: 30 })
  })
})

test('wrong arguments are explained', async () => {
  const run = startChaos('--minutes', 'many')
  expect(await run.ended()).toBe(2)
  expect(run.output).toContain('--minutes must be a number from 0.1 to 1440, got many')
  expect(run.output).toContain('--seed 1')
  expect(existsSync('/proc') ? run.processes() : []).toEqual([])
})
