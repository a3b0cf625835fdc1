import type { Unit } from './benchmark.js'

const DURATIONS = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'us'],
  [1e-9, 'ns'],
] as const

/** A quantity for a person to read: three significant digits, and no more. */
export function formatQuantity(unit: Unit, value: number): string {
  if (!Number.isFinite(value)) return '-'
  switch (unit) {
    case 'duration': {
      const [size, name] = DURATIONS.find(([limit]) => value >= limit) ?? [1e-9, 'ns']
      return `${digits(value / size)} ${name}`
    }
    case 'rate':
      return `${digits(value)} /s`
    case 'bytes':
      return value >= 1024 ? `${digits(value / 1024)} KiB` : `${digits(value)} B`
    case 'percent':
      return `${digits(value)} %`
    case 'count':
      return digits(value)
  }
}

/** How one median stands to another: `1.2 x`, or `1/430` where the first is so much smaller that a factor says nothing. */
export function formatRatio(ratio: number | null): string {
  if (ratio === null || !Number.isFinite(ratio)) return '-'
  return ratio > 0 && ratio < 0.1 ? `1/${digits(1 / ratio)}` : `${ratio.toFixed(2)} x`
}

function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
