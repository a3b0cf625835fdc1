import { sharedServer } from '@es/test-server'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Connection string of the server that all integration tests share: `inject('databaseUrl')`. Make a database of your own on it
     * with `createDatabase`; start a server of your own with `startTestServer` to restart it.
     */
    databaseUrl: string
  }
}

/** Starts the server before the first integration test; the returned function stops it after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await sharedServer()
  project.provide('databaseUrl', server.url)
  return () => server.stop()
}
