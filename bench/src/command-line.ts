import { parseArgs } from 'node:util'

/** What the command is asked to do. */
export interface CommandLine {
  /** Names of groups or rows; none for all. */
  readonly names: readonly string[]
  /** `record`: measure, and write the results and the document. `check`: measure what is steady, and compare it with the recorded results. */
  readonly mode: 'run' | 'record' | 'check'
  /** Where to write the results; `null` for the usual place. */
  readonly json: string | null
}

export const USAGE = `Usage: pnpm bench [NAME...] [--json FILE] [--check | --record]
       pnpm bench scaling [...]   how cost grows with the cluster, see docs/scaling.md

NAME      a group such as elector, or a row such as elector/renew; everything when left out
--json    where to write the results, instead of bench/latest-results.json
--check   measures what is steady and fails when a ratio is worse than the recorded one by more than noise explains
--record  measures everything, steady rows several times, and writes bench/results.json and docs/performance.md`

/** @throws TypeError for an option that is not known, or a combination that makes no sense. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    // pnpm hands the separator on.
    args: args.filter((arg) => arg !== '--'),
    allowPositionals: true,
    options: { json: { type: 'string' }, check: { type: 'boolean' }, record: { type: 'boolean' } },
  })
  if (values.check && values.record) throw new TypeError('--check and --record exclude each other')
  if (values.record && positionals.length > 0) throw new TypeError('--record measures everything: give it no names')
  return { names: positionals, mode: values.check ? 'check' : values.record ? 'record' : 'run', json: values.json ?? null }
}
