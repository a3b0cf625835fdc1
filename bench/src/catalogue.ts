import type { Benchmark, BenchmarkGroup } from './benchmark.js'
import { coordinator } from './groups/coordinator.js'
import { elector } from './groups/elector.js'
import { handover } from './groups/handover.js'
import { idle } from './groups/idle.js'
import { messages } from './groups/messages.js'
import { ownership } from './groups/ownership.js'
import { planner } from './groups/planner.js'
import { silence } from './groups/silence.js'
import { takeover } from './groups/takeover.js'
import { transport } from './groups/transport.js'
import { worker } from './groups/worker.js'

/** Every group, in the order of the table. */
export const CATALOGUE: readonly BenchmarkGroup[] = [
  ...[messages, coordinator, planner],
  ...[elector, ownership, transport],
  ...[takeover, silence, handover],
  ...[worker, idle],
]

/** The name of a row: `group/benchmark`. */
export function rowName(group: BenchmarkGroup, benchmark: Benchmark): string {
  return `${group.name}/${benchmark.name}`
}

/** The names of all rows of `groups`, in their order. */
export function rowNames(groups: readonly BenchmarkGroup[]): readonly string[] {
  return groups.flatMap((group) => group.benchmarks.map((benchmark) => rowName(group, benchmark)))
}

/**
 * The groups with those of their benchmarks that `names` ask for, each the name of a group or of a row; all of them without names.
 *
 * @throws RangeError that lists the names there are, for one that is not among them.
 */
export function select(catalogue: readonly BenchmarkGroup[], names: readonly string[]): readonly BenchmarkGroup[] {
  const known = new Set(catalogue.flatMap((group) => [group.name, ...rowNames([group])]))
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length > 0) throw new RangeError(`There is no benchmark ${unknown.join(', ')}. There are:\n${[...known].join('\n')}`)
  if (names.length === 0) return catalogue
  return keep(catalogue, (group, benchmark) => names.includes(group.name) || names.includes(rowName(group, benchmark)))
}

/** The groups with those of their benchmarks that `isWanted`, without groups that are empty then. */
export function keep(
  catalogue: readonly BenchmarkGroup[],
  isWanted: (group: BenchmarkGroup, benchmark: Benchmark) => boolean,
): readonly BenchmarkGroup[] {
  return catalogue
    .map((group) => ({ ...group, benchmarks: group.benchmarks.filter((benchmark) => isWanted(group, benchmark)) }))
    .filter(({ benchmarks }) => benchmarks.length > 0)
}
