import { describe, expect, it } from 'vitest'
import { clusterSettings, recoveryBounds } from '../cluster-settings.js'
import { FAULT_KINDS, FAULT_NAMES, type FaultName, isForEverybody } from './fault-kinds.js'
import { type Burst, befallsOne, countFaults, formatSchedule, isPossibleIn, planSchedule, type Schedule, SLOTS } from './schedule.js'

const settings = clusterSettings(2)
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed)

function plan(seed: number, { minutes = 10, faults = FAULT_NAMES }: { minutes?: number; faults?: readonly FaultName[] } = {}): Schedule {
  return planSchedule({ seed, minutes, settings, faults })
}

describe('a schedule', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(plan(7)).toEqual(plan(7))
    expect(plan(7).bursts).not.toEqual(plan(8).bursts)
  })

  it('has every kind before any comes again (F1)', () => {
    for (const seed of SEEDS) {
      for (const group of [FAULT_NAMES.filter(isForEverybody), FAULT_NAMES.filter((name) => !isForEverybody(name))]) {
        const counts = countFaults(plan(seed))
        const times = group.map((name) => counts.get(name) ?? 0)
        expect(Math.max(...times) - Math.min(...times), `seed ${seed}`).toBeLessThanOrEqual(1)
        expect(Math.min(...times)).toBeGreaterThan(2)
      }
    }
  })

  it('has at most one fault for everybody in a burst, and different workers for the others, who can have them (F2)', () => {
    const bursts = SEEDS.flatMap((seed) => plan(seed).bursts)
    const isFine = ({ faults }: Burst): boolean => {
      const slots = faults.filter(({ name }) => befallsOne(name)).map(({ slot }) => slot)
      const isPossible = faults.every(({ name, slot }) => isPossibleIn(name, SLOTS[slot]?.network))
      const forEverybody = faults.filter(({ name }) => isForEverybody(name)).length
      return faults.length === 4 && forEverybody === 1 && new Set(slots).size === slots.length && isPossible
    }
    expect(bursts.filter((burst) => !isFine(burst))).toEqual([])
  })

  it('has calms in which the bounds can be broken (F3)', () => {
    for (const { calmSeconds } of plan(1).bursts) expect(calmSeconds).toBeGreaterThan(recoveryBounds(settings).ownerSeconds)
  })

  it('has faults as long as their kind says', () => {
    for (const { name, seconds } of plan(3).bursts.flatMap(({ faults }) => faults)) {
      const { leases } = FAULT_KINDS[name]
      expect(seconds).toBeGreaterThanOrEqual((leases?.[0] ?? 0) * settings.leaseSeconds)
      expect(seconds).toBeLessThanOrEqual((leases?.[1] ?? 0) * settings.leaseSeconds)
    }
  })

  it('fits into the time given, with one burst at least', () => {
    const lengths = [0.1, 1, 5, 15].map((minutes) => plan(1, { minutes }).bursts.length)
    expect(lengths[0]).toBe(1)
    for (const [index, length] of lengths.entries()) expect(length).toBeGreaterThanOrEqual(lengths[index - 1] ?? 0)
    expect((lengths[3] ?? 0) * plan(1).bursts[0]!.calmSeconds).toBeLessThan(15 * 60)
  })

  it('keeps to the kinds that were asked for', () => {
    const { bursts } = plan(1, { faults: ['kill', 'black_hole'] })
    for (const { faults } of bursts) expect(faults.map(({ name }) => name).sort()).toEqual(['black_hole', 'kill'])
  })

  it('can be read: a line for each fault', () => {
    const schedule = plan(1, { minutes: 1 })
    const lines = formatSchedule(schedule)
    expect(lines[0]).toBe(`Schedule of seed 1: ${schedule.bursts.length} bursts, ${schedule.bursts.length * 4} faults`)
    expect(lines.length).toBe(1 + schedule.bursts.length * 5)
  })
})
