import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseChaosOptions } from './chaos-options.js'
import type { RunOutcome } from './judge/describe-run.js'
import { formatSection, withSection } from './record-run.js'

const document = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8')

describe('recording', () => {
  it('puts a section in place of the one before, and leaves everything else', () => {
    const once = withSection(document, 'first')
    const twice = withSection(once, 'second')
    expect(twice).toContain('\n\nsecond\n\n')
    expect(twice).not.toContain('first')
    expect(withSection(twice, 'first')).toBe(once)
  })

  it('fails where the document has no place for it', () => {
    expect(() => withSection('# Reliability\n', 'first')).toThrow('docs/reliability.md has no lines')
  })

  it('says how to repeat the run', () => {
    const outcome = { serverVersion: '18.4', bounds: { leaderSeconds: 1, ownerSeconds: 2 }, figures: { faults: { kill: 3 } } }
    const figures = new Proxy(outcome.figures, { get: (target, name) => (name === 'faults' ? target.faults : 0) })
    const given = parseChaosOptions(['--minutes', '15', '--seed', '3'])
    const section = formatSection(given, { ...outcome, figures } as unknown as RunOutcome, new Date('2030-01-02T03:04:05Z'))
    expect(section).toContain('`pnpm chaos --minutes 15 --seed 3` on 2030-01-02: ')
    expect(section).toContain('PostgreSQL 18.4')
    const other = parseChaosOptions(['--lease-seconds', '2', '--events-per-second', '9', '--faults', 'kill,halt'])
    expect(formatSection(other, { ...outcome, figures } as unknown as RunOutcome, new Date())).toContain(
      '`pnpm chaos --minutes 1 --seed 1 --lease-seconds 2 --events-per-second 9 --faults kill,halt`',
    )
    expect(section).toMatch(/\| killed +\| 3 +\|/)
    expect(section).toMatch(/\| breaches +\| 0 +\|/)
  })
})
