import { PostgresCoordination, type PostgresCoordinationOptions } from '@es/coordination-postgres'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** Whether every part of the coordination refuses the server at `connection` as the documents say; what did not, `null` when all did. */
export async function unrefusedBy(connection: string): Promise<string | null> {
  for (const pooler of ['none', 'session'] as const) {
    const options: PostgresCoordinationOptions = { instanceId: 'a', connection, pooler, logger: SILENT }
    await using coordination = new PostgresCoordination(options)
    const attempts = {
      elector: () => coordination.elector.tryAcquire(),
      campaign: () => coordination.elector.campaign(),
      ownership: () => coordination.ownership.claim(['s']),
      transport: () => coordination.transport.publish('t', {}),
    }
    for (const [part, attempt] of Object.entries(attempts)) {
      const outcome: unknown = await attempt().then(
        () => 'it was accepted',
        (error: unknown) => error,
      )
      const isRefused =
        outcome instanceof Error && Reflect.get(outcome, 'code') === 'unsupported_server' && outcome.message.includes('PostgreSQL 14')
      if (!isRefused) return `${part} (pooler: ${pooler}) did not refuse it: ${outcome instanceof Error ? outcome.message : outcome}`
    }
  }
  return null
}
