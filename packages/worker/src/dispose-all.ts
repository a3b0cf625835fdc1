import { boundedCall, type Clock, type Logger } from '@es/coordination-core'
import { CLOSING_SECONDS } from './call-limits.js'

/**
 * Disposes of `resources` one after the other, whatever becomes of each, within {@link CLOSING_SECONDS} for all of them together: once that is over the
 * rest is disposed of too, and not waited for. Never rejects.
 */
export async function disposeAll(
  resources: readonly AsyncDisposable[],
  { clock, logger, instanceId }: { readonly clock: Clock; readonly logger: Logger; readonly instanceId: string },
): Promise<void> {
  const deadline = clock.monotonicSeconds() + CLOSING_SECONDS
  for (const resource of resources) {
    const timeoutSeconds = Math.max(deadline - clock.monotonicSeconds(), 0)
    try {
      await boundedCall({ clock, what: 'Closing an adapter', timeoutSeconds }, async () => resource[Symbol.asyncDispose]())
    } catch (error) {
      logger.error({ instanceId, error }, 'An adapter could not be closed')
    }
  }
}
