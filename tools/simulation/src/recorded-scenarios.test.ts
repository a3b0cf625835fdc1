import { readdir } from 'node:fs/promises'
import { DEFAULT_TIMINGS, formatTranscript, type SimulationResult, simulate } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { RECORDED_SCENARIOS, type RecordedScenario } from './recorded-scenarios.js'
import { createWorker } from './worker-instance.js'

// To record anew what is meant to have changed: npx vitest run --project unit tools/simulation/src/recorded-scenarios.test.ts -u
const FOLDER = `${import.meta.dirname}/../scenarios`
const MOST_LINES = 62

const { leaseSeconds, renewDeadlineSeconds, pollSeconds, crashGraceSeconds, observeIntervalSeconds, drainTimeoutSeconds } = DEFAULT_TIMINGS
/** A new leader is elected, and looks who holds what. */
const TAKEOVER_SECONDS = pollSeconds + observeIntervalSeconds
const THE_END = 'all are asked to leave'

/** The transcript without the end, when all leave. */
function minutesOf({ transcript }: SimulationResult): SimulationResult['transcript'] {
  return transcript.slice(
    0,
    transcript.findIndex(({ what }) => what === THE_END),
  )
}

function textOf({ preface }: RecordedScenario, result: SimulationResult): string {
  return `${preface.join('\n')}\n\n${formatTranscript(minutesOf(result))}\n`
}

/** What instances said after the first line that begins so; at least that line must be there. */
function saidAfter(result: SimulationResult, line: string): readonly string[] {
  const lines = minutesOf(result)
  const index = lines.findLastIndex(({ what }) => what.startsWith(line))
  expect(index, `a line "${line}"`).toBeGreaterThan(0)
  return lines.slice(index + 1).flatMap(({ who, what, isStep }) => (isStep ? [] : [`${who} ${what}`]))
}

/** How often each subscription got another owner; those that never did are left out. */
function movesOf({ report }: SimulationResult): Readonly<Record<string, number>> {
  return Object.fromEntries(
    (report?.figures.subscriptions ?? []).flatMap(({ subscription, moves }) => (moves > 0 ? [[subscription, moves]] : [])),
  )
}

/** Longest time that a subscription had no owner. */
function longestGapOf({ report }: SimulationResult): number {
  return Math.max(...(report?.figures.subscriptions ?? []).map(({ longestGapSeconds }) => longestGapSeconds))
}

/** Who was elected, in order. */
function leadersOf({ history }: SimulationResult): readonly string[] {
  return history.flatMap((event) => (event.type === 'elected' ? [event.instanceId] : []))
}

/** Who claimed a subscription when, in order. */
function claimsOf({ history }: SimulationResult, subscription: string): readonly { readonly by: string; readonly at: number }[] {
  return history.flatMap((event) =>
    event.type === 'claimed' && event.subscription === subscription ? [{ by: event.instanceId, at: event.at }] : [],
  )
}

function timeOf({ history }: SimulationResult, type: SimulationResult['history'][number]['type']): number {
  return history.find((event) => event.type === type)?.at ?? Number.NaN
}

/** What must be so however the transcript reads. */
const FACTS: Readonly<Record<string, (result: SimulationResult) => void>> = {
  'leader-dies'(result) {
    expect(leadersOf(result)).toEqual(['a', 'c'])
    expect(movesOf(result)).toEqual({ s1: 1, s4: 1 })
    expect(longestGapOf(result)).toBeLessThan(TAKEOVER_SECONDS + crashGraceSeconds)
  },
  'graceful-shutdown'(result) {
    expect(leadersOf(result)).toEqual(['a', 'c'])
    expect(movesOf(result)).toEqual({ s1: 1, s4: 1 })
    expect(longestGapOf(result)).toBeLessThan(pollSeconds)
    const slow = claimsOf(result, 's4')[1]?.at ?? Number.NaN
    expect(slow - timeOf(result, 'stopping')).toBeGreaterThan(drainTimeoutSeconds / 2)
    expect(slow).toBeGreaterThan((claimsOf(result, 's1')[1]?.at ?? Number.NaN) + 1)
  },
  'restart-with-same-id'(result) {
    expect(movesOf(result)).toEqual({ s2: 2, s5: 2 })
    const back = claimsOf(result, 's2').at(-1)
    expect(back?.by).toBe('b')
    expect(back?.at).toBeLessThan(timeOf(result, 'stopping') + drainTimeoutSeconds)
    expect(longestGapOf(result)).toBeLessThan(observeIntervalSeconds)
  },
  'two-leaders-cross'(result) {
    expect(leadersOf(result)).toEqual(['a', 'b'])
    expect(movesOf(result)).toEqual({ s1: 1, s4: 1 })
    const after = saidAfter(result, 'hears that it is to run s3 (term 1), after a newer assignment (term')
    expect(after.filter((line) => line.startsWith('c') && !line.includes('stale'))).toEqual([])
  },
  'partition-heals'(result) {
    expect(leadersOf(result)).toEqual(['a'])
    expect(movesOf(result)).toEqual({})
    expect(longestGapOf(result)).toBe(0)
    expect(saidAfter(result, 'network splits')).toEqual(
      expect.arrayContaining(['a takes b for stale', 'b takes a for stale', 'a takes b for healthy']),
    )
  },
  'late-heartbeat'(result) {
    expect(movesOf(result)).toEqual({ s6: 1 })
    expect(saidAfter(result, 'hears a heartbeat of c that a later one has overtaken')).toEqual([])
  },
  'clock-jumps'(result) {
    expect(movesOf(result)).toEqual({})
    expect(saidAfter(result, 'starts s')).toEqual([])
  },
  'rolling-restart'(result) {
    expect(leadersOf(result)).toEqual(['a', 'b'])
    expect(movesOf(result)).toEqual({ s1: 2, s2: 2, s3: 2, s4: 2 })
    expect(['s1', 's2', 's3', 's4'].map((name) => claimsOf(result, name).at(-1)?.by)).toEqual(['a', 'b', 'a', 'b'])
    expect(longestGapOf(result)).toBeLessThan(pollSeconds)
  },
  'leader-stands-still'(result) {
    expect(leadersOf(result)).toEqual(['a', 'b'])
    expect(movesOf(result)).toEqual({ s1: 2, s4: 2 })
    const taken = (claimsOf(result, 's1')[1]?.at ?? Number.NaN) - timeOf(result, 'paused')
    expect(taken).toBeGreaterThan(renewDeadlineSeconds - leaseSeconds / 3)
    expect(taken).toBeLessThan(leaseSeconds + TAKEOVER_SECONDS)
    expect(result.history.filter(({ type }) => type === 'checkpoint_refused')).toMatchObject([{ instanceId: 'a' }, { instanceId: 'a' }])
  },
  'backend-restarts'(result) {
    expect(movesOf(result)).toEqual({})
    const up = timeOf(result, 'fault_ended')
    for (const name of ['s1', 's2', 's3']) {
      const [before, after, ...more] = claimsOf(result, name)
      expect(more).toEqual([])
      expect(after?.by).toBe(before?.by)
      expect(after?.at).toBeGreaterThan(up + leaseSeconds)
      expect(after?.at).toBeLessThan(up + leaseSeconds + 2 * TAKEOVER_SECONDS)
    }
  },
}

it('all recorded scenarios have facts, and no file is left over', async () => {
  const names = RECORDED_SCENARIOS.map(({ name }) => name)
  expect(Object.keys(FACTS)).toEqual(names)
  expect((await readdir(FOLDER)).sort()).toEqual(names.map((name) => `${name}.txt`).sort())
})

describe('the recorded scenario', { timeout: 60_000 }, () => {
  it.each(RECORDED_SCENARIOS)('$name', async (recorded) => {
    const result = await simulate(recorded.scenario, { createInstance: createWorker })
    expect(result.faults).toEqual([])
    FACTS[recorded.name]?.(result)
    const text = textOf(recorded, result)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
    await expect(text).toMatchFileSnapshot(`${FOLDER}/${recorded.name}.txt`)
  })
})
