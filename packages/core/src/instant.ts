// Year 1 to year 9999 in UTC: what four digits can write and every reader of the reference can hold.
const EARLIEST_MS = -62_135_596_800_000
const LATEST_MS = 253_402_300_799_999

// Longer text is not looked at. The longest sensible one (nanoseconds, an offset with seconds) has 38 characters.
const MAX_TEXT_LENGTH = 64

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2})(?::(\d{2}))?)$/

/**
 * Reads an instant such as `2026-03-01T12:00:00.123456+00:00` (RFC 3339, plus offsets with seconds, which Python can write). The offset is
 * mandatory, so the result never depends on the time zone of this process (M2). Digits after the milliseconds are cut, not rounded (M3).
 *
 * @returns `null` for anything else, also for a day that no calendar has, hour 24, second 60, and a year outside 1..9999 in UTC.
 */
export function parseInstant(text: string): Date | null {
  if (text.length > MAX_TEXT_LENGTH) return null
  const match = INSTANT.exec(text)
  if (!match) return null
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute, offsetSecond] = match
  if (!isCalendarDay(Number(year), Number(month), Number(day))) return null
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null

  const ms = utcMs(Number(year), Number(month), Number(day)) + clockMs(hour, minute, second) + fractionMs(fraction)
  if (sign === undefined) return toInstant(ms)
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59 || Number(offsetSecond ?? 0) > 59) return null
  const offset = clockMs(offsetHour, offsetMinute, offsetSecond)
  return toInstant(sign === '+' ? ms - offset : ms + offset)
}

/** Writes an instant as UTC with milliseconds and `+00:00`, which every Python that the reference supports reads; not all read `Z` (M3). */
export function formatInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, -1)}+00:00`
}

/** Whether `value` is a `Date` that {@link formatInstant} can write: a valid one, in the years 1..9999 in UTC. */
export function isInstant(value: unknown): value is Date {
  if (!(value instanceof Date)) return false
  const ms = value.getTime()
  return ms >= EARLIEST_MS && ms <= LATEST_MS
}

function toInstant(ms: number): Date | null {
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? new Date(ms) : null
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  if (day <= 28) return true
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return isLeapYear && day === 29
}

function utcMs(year: number, month: number, day: number): number {
  // Date.UTC takes the years 0..99 for 1900..1999. 400 years are a whole number of Gregorian cycles, and of days.
  return year >= 100 ? Date.UTC(year, month - 1, day) : Date.UTC(year + 400, month - 1, day) - 146_097 * 86_400_000
}

function clockMs(hour: string | undefined, minute: string | undefined, second: string | undefined): number {
  return Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second ?? 0) * 1000
}

function fractionMs(fraction: string | undefined): number {
  return fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
}
