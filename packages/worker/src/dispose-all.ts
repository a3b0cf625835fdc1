import { boundedCall, type Clock, type Logger } from '@es/coordination-core'

// For what a user's adapter takes to close; ours take less.
const DISPOSE_SECONDS = 10

/** Disposes of `resources` one after the other, whatever becomes of each. Never rejects. */
export async function disposeAll(
  resources: readonly AsyncDisposable[],
  { clock, logger, instanceId }: { readonly clock: Clock; readonly logger: Logger; readonly instanceId: string },
): Promise<void> {
  for (const resource of resources) {
    try {
      await boundedCall({ clock, what: 'Closing an adapter', timeoutSeconds: DISPOSE_SECONDS }, async () => resource[Symbol.asyncDispose]())
    } catch (error) {
      logger.error({ instanceId, error }, 'An adapter could not be closed')
    }
  }
}
