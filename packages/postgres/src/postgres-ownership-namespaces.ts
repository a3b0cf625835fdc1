import { CoordinationError } from '@es/coordination-core'
import type { LockSession } from './lock-session.js'

/** The namespaces in use on each lock session: two owners of one lock would each think it theirs alone. */
const namespacesInUse = new WeakMap<LockSession, Set<string>>()

/** @throws CoordinationError `invalid_options` when `namespace` is in use on `locks`. */
export function reserveNamespace(locks: LockSession, namespace: string): void {
  const inUse = namespacesInUse.get(locks) ?? new Set()
  if (inUse.has(namespace)) {
    throw new CoordinationError(
      'invalid_options',
      `Another PostgresOwnership uses the namespace ${JSON.stringify(namespace)} on this session: share that one`,
    )
  }
  namespacesInUse.set(locks, inUse.add(namespace))
}

/** Lets another one have it. */
export function freeNamespace(locks: LockSession, namespace: string): void {
  namespacesInUse.get(locks)?.delete(namespace)
}
