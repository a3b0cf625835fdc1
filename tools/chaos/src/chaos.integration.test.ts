import { expect, test } from 'vitest'
import { CHAOS_LIMIT, startChaos } from './chaos-program.test.harness.js'
import { clusterSettings } from './cluster-settings.js'
import { FAULT_NAMES } from './plan/fault-kinds.js'
import { countFaults, planSchedule } from './plan/schedule.js'

/** Short, so that many faults fit into a minute. */
const LEASE_SECONDS = 1

test('a minute of every kind of fault breaks nothing', CHAOS_LIMIT, async () => {
  const run = startChaos('--minutes', '1', '--seed', '2', '--lease-seconds', String(LEASE_SECONDS), '--keep')
  expect(await run.ended(), run.output).toBe(0)
  const report = run.report()
  expect(report, run.output).toMatchObject({ holds: true, breaches: [], figures: { breaches: 0 } })
  expect(report.checks.filter(({ isFine }) => !isFine)).toEqual([])
  const planned = countFaults(planSchedule({ seed: 2, minutes: 1, settings: clusterSettings(LEASE_SECONDS), faults: FAULT_NAMES }))
  expect(report.figures.faults).toEqual(Object.fromEntries(planned))
  expect([...planned.keys()].sort()).toEqual([...FAULT_NAMES].sort())
  expect(report.figures.applied).toBeGreaterThan(0)
})
