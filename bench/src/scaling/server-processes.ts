import { readFile } from 'node:fs/promises'
import type { Observer } from '../observer.js'

/** The processes of the server that work for the sessions of the observer's database, without its own. */
export async function sessionProcesses(observer: Observer): Promise<readonly number[]> {
  const rows = await observer.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  )
  return rows.map(({ pid }) => pid)
}

/** Seconds of processor time that `processes` have used up so far. @throws Error where there is no `/proc`, or they are on another machine. */
export async function processorSeconds(processes: readonly number[]): Promise<number> {
  const seconds = await Promise.all(processes.map(async (pid) => parseSchedstat(await readFile(`/proc/${pid}/schedstat`, 'utf8'))))
  return seconds.reduce((sum, one) => sum + one, 0)
}

/** The time on a processor in the text of a `/proc/PID/schedstat`, in seconds. */
export function parseSchedstat(text: string): number {
  const nanoseconds = Number(text.split(' ')[0])
  if (!Number.isFinite(nanoseconds) || text.trim() === '') throw new Error(`This is no schedstat: ${text.trim()}`)
  return nanoseconds / 1e9
}

/** Seconds of processor time of this process so far. */
export function ownSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
