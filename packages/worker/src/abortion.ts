import { CoordinationError } from '@es/coordination-core'

/** Whether a run, or the leader's work, only passed on that it was told to end: by its signal's reason, or by what Node's own functions throw then. */
export function isAbortion(error: unknown): boolean {
  if (error instanceof CoordinationError) return error.code.startsWith('run_') || error.code === 'leadership_over'
  return error instanceof Error && error.name === 'AbortError'
}
