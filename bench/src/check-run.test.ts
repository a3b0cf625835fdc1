import { expect, it } from 'vitest'
import type { Benchmark, BenchmarkGroup, Measurement } from './benchmark.js'
import { rowName, rowNames } from './catalogue.js'
import { checkRows } from './check-run.js'
import { judge, type RowResult } from './row-result.js'

const benchmark = (name: string, fields: Partial<Benchmark> = { tolerance: 1.5 }): Benchmark => ({
  ...{ name, what: name, beside: 'that', targets: [] },
  run: () => Promise.reject(new Error('Nobody runs it')),
  ...fields,
})
const groups: readonly BenchmarkGroup[] = [
  { name: 'g', benchmarks: [benchmark('steady'), benchmark('slower'), benchmark('lucky'), benchmark('wild', {}), benchmark('new')] },
]

/** Ratios that each row comes to, attempt by attempt. */
class ScriptedMeasurer {
  readonly measured: (readonly string[])[] = []
  readonly #script: Readonly<Record<string, readonly number[]>>
  readonly #runs = new Map<string, Measurement[]>()

  constructor(script: Readonly<Record<string, readonly number[]>>) {
    this.#script = script
  }

  async measure(wanted: readonly BenchmarkGroup[]): Promise<void> {
    const names = rowNames(wanted)
    this.measured.push(names)
    for (const name of names) {
      const runs = this.#runs.get(name) ?? []
      const ratio = this.#script[name]?.[runs.length]
      if (ratio !== undefined) this.#runs.set(name, [...runs, { unit: 'duration', samples: [ratio], beside: [1] }])
    }
  }

  results(wanted: readonly BenchmarkGroup[]): RowResult[] {
    return wanted.flatMap((group) =>
      group.benchmarks.flatMap((one) => {
        const name = rowName(group, one)
        const [first, ...rest] = this.#runs.get(name) ?? []
        return first === undefined ? [] : [judge(name, one, [first, ...rest])]
      }),
    )
  }
}

it('measures again what is worse, up to three times, and calls worse what stays so', async () => {
  const recorder = new ScriptedMeasurer({ 'g/steady': [1], 'g/slower': [1], 'g/lucky': [1] })
  await recorder.measure(groups)
  const measurer = new ScriptedMeasurer({ 'g/steady': [1.4], 'g/slower': [1.9, 1.6, 1.7], 'g/lucky': [5, 1.2], 'g/new': [1] })
  const lines: string[] = []
  const comparisons = await checkRows({ groups, record: recorder.results(groups), measurer, print: (line) => lines.push(line) })
  expect(measurer.measured).toEqual([['g/steady', 'g/slower', 'g/lucky', 'g/new'], ['g/slower', 'g/lucky'], ['g/slower']])
  expect([...comparisons].map(([name, { isWorse, present }]) => [name, isWorse, present])).toEqual([
    ['g/steady', false, 1.4],
    ['g/slower', true, 1.6],
    ['g/lucky', false, 1.2],
  ])
  expect(lines).toContain('      g/new cannot be compared: not recorded, or not measured')
})
