import { ConnectionError } from '@es/coordination-core'
import type { FakeLockServer } from './fake-lock-server.test.harness.js'
import type { OpenSessionOptions, Session } from './pg-session.js'

// Must not import what imports pg-session.js: that waits for this file, which takes its place.

const servers = new Map<string, FakeLockServer>()

/** The connection string by which {@link openSession} finds `server`. */
export function nameFakeServer(server: FakeLockServer): string {
  const name = `fake-${servers.size}`
  servers.set(name, server)
  return name
}

/**
 * Takes the place of the real `openSession` and connects to a fake server:
 * `vi.mock('./pg-session.js', () => import('./fake-pg-session.test.harness.js'))`.
 */
export function openSession({ connection, applicationName, timeoutSeconds, signal, clock }: OpenSessionOptions): Promise<Session> {
  const server = servers.get(String(connection))
  if (!server) throw new Error(`There is no fake server ${String(connection)}`)
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const cancel = clock.setTimer(timeoutSeconds, () => reject(new ConnectionError('timed_out', 'Connecting took too long')))
    void server.open(signal, applicationName).then(resolve, reject).finally(cancel)
  })
}
