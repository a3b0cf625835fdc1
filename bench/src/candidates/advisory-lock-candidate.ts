import advisoryLock from 'advisory-lock'
import type { Candidate, Meeting } from './candidate.js'

/** The npm package `advisory-lock`, as its documentation shows it. */
export function advisoryLockCandidate({ election, connection }: Meeting): Candidate {
  // The package is CommonJS without `exports`: its default export arrives as a property.
  const { default: createMutexes } = advisoryLock as unknown as { default: typeof advisoryLock.default }
  const mutex = createMutexes(connection)(election)
  let unlock: () => Promise<void> = async () => {}
  return {
    async lead() {
      unlock = await mutex.lock()
    },
    release: () => unlock(),
  }
}
