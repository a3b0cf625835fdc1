import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** Where and when something was measured. */
export interface Machine {
  /** UTC. */
  readonly date: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly system: string
  readonly node: string
  /** Of the last minute, before and after; includes what the benchmarks themselves did. */
  readonly loadBefore: number
  readonly loadAfter: number
}

/** Begins to describe this machine; the returned function ends it. */
export function describeMachine(): () => Machine {
  const loadBefore = load()
  return () => ({
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
    loadBefore,
    loadAfter: load(),
  })
}

export function formatMachine({ date, cpu, cores, memoryGiB, system, node, loadBefore, loadAfter }: Machine): string {
  return `${date} UTC. ${cores} cores of ${cpu}, ${memoryGiB} GiB, ${system}, Node ${node}. Load ${loadBefore} before and ${loadAfter} after.`
}

function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1))
}
