import type { Row } from './pg-session.js'

/** Who holds a lock, as the server shows it to anybody. */
export interface LockHolder {
  readonly backendPid: number
  /** At most 63 bytes: the server cuts it. */
  readonly applicationName: string
  /** When the holder connected; null to a role that may not see it. */
  readonly connectedAt: Date | null
}

/** Reads a row of `HOLDERS`. */
export function readHolder(row: Row): LockHolder {
  const connectedAt = row.backend_start
  return {
    backendPid: Number(row.pid),
    applicationName: String(row.application_name ?? ''),
    connectedAt: connectedAt instanceof Date ? connectedAt : null,
  }
}
