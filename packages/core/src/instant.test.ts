import { afterEach, describe, expect, it } from 'vitest'
import { formatInstant, isInstant, parseInstant } from './instant.js'

const zone = process.env.TZ

afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

describe('parseInstant', () => {
  it.each([
    ['2026-03-01T12:00:00+00:00', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01t12:00:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01 12:00:00-00:00', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.5+00:00', '2026-03-01T12:00:00.500Z'],
    ['2026-03-01T17:30:00+05:30', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00-00:30', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:00:00+00:53:28', '2026-03-01T11:06:32.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-06-01T00:00:00Z', '0099-06-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999Z'],
  ])('reads %s', (text, expected) => {
    expect(parseInstant(text)?.toISOString()).toBe(expected)
  })

  it('cuts microseconds and nanoseconds to milliseconds instead of rounding them (M3)', () => {
    expect(parseInstant('2026-03-01T12:00:00.123999+00:00')?.toISOString()).toBe('2026-03-01T12:00:00.123Z')
    expect(parseInstant('2026-03-01T12:00:00.999999999+00:00')?.toISOString()).toBe('2026-03-01T12:00:00.999Z')
  })

  it.each([
    ['no offset', '2026-03-01T12:00:00'],
    ['a day that no calendar has', '2026-02-30T12:00:00Z'],
    ['29 February of a common year', '2025-02-29T12:00:00Z'],
    ['29 February of a century', '1900-02-29T12:00:00Z'],
    ['31 April', '2026-04-31T12:00:00Z'],
    ['day 0', '2026-03-00T12:00:00Z'],
    ['day 32', '2026-03-32T12:00:00Z'],
    ['month 0', '2026-00-01T12:00:00Z'],
    ['month 13', '2026-13-01T12:00:00Z'],
    ['hour 24', '2026-03-01T24:00:00Z'],
    ['minute 60', '2026-03-01T12:60:00Z'],
    ['second 60', '2026-03-01T12:00:60Z'],
    ['offset hour 24', '2026-03-01T12:00:00+24:00'],
    ['offset minute 60', '2026-03-01T12:00:00+00:60'],
    ['year 0', '0000-12-31T12:00:00Z'],
    ['a year before 1 after the offset', '0001-01-01T00:00:00+00:01'],
    ['a year after 9999 after the offset', '9999-12-31T23:59:59-00:01'],
    ['a date alone', '2026-03-01'],
    ['no seconds', '2026-03-01T12:00Z'],
    ['an empty fraction', '2026-03-01T12:00:00.Z'],
    ['a named zone', '2026-03-01T12:00:00 UTC'],
    ['text before it', ' 2026-03-01T12:00:00Z'],
    ['text after it', '2026-03-01T12:00:00Z\n'],
    ['digits that are not ASCII', '２026-03-01T12:00:00Z'],
    ['a number of seconds', '1772366400'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseInstant(text)).toBeNull()
  })

  it('refuses text without end', () => {
    expect(parseInstant(`2026-03-01T12:00:00.${'1'.repeat(1_000_000)}Z`)).toBeNull()
  })

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('reads the same in the zone %s, and never local time (M2)', (name) => {
    process.env.TZ = name
    expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe({ UTC: 0, 'America/New_York': 300, 'Asia/Kolkata': -330 }[name])
    expect(parseInstant('2025-01-01T12:00:00+00:00')?.getTime()).toBe(Date.UTC(2025, 0, 1, 12))
    expect(parseInstant('2025-03-09T02:30:00+00:00')?.getTime()).toBe(Date.UTC(2025, 2, 9, 2, 30))
    expect(parseInstant('2025-01-01T12:00:00')).toBeNull()
    expect(formatInstant(new Date(Date.UTC(2025, 0, 1, 12)))).toBe('2025-01-01T12:00:00.000+00:00')
  })
})

describe('formatInstant', () => {
  it('writes UTC with milliseconds and +00:00, never Z (M3)', () => {
    expect(formatInstant(new Date(Date.UTC(2026, 2, 1, 12, 0, 0, 7)))).toBe('2026-03-01T12:00:00.007+00:00')
  })

  it('writes what parseInstant reads, at the ends of the range too', () => {
    for (const text of ['0001-01-01T00:00:00.000+00:00', '9999-12-31T23:59:59.999+00:00']) {
      expect(formatInstant(parseInstant(text) as Date)).toBe(text)
    }
  })
})

describe('isInstant', () => {
  it('refuses what has no four-digit year, and what is no valid Date', () => {
    expect(isInstant(new Date(Number.NaN))).toBe(false)
    expect(isInstant(new Date(253_402_300_800_000))).toBe(false)
    expect(isInstant(new Date(-62_135_596_800_001))).toBe(false)
    expect(isInstant('2026-03-01T12:00:00Z')).toBe(false)
    expect(isInstant(new Date(0))).toBe(true)
  })
})
