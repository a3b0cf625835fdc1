import { type Clock, FailureLog, type Logger } from '@es/coordination-core'

/** Reads a sample from the user's code, which may throw: 0 stands for it then, and the outage is reported. */
export function safeSample(
  name: string,
  read: () => number,
  { clock, logger, instanceId }: { readonly clock: Clock; readonly logger: Logger; readonly instanceId: string },
): () => number {
  const outage = new FailureLog({ what: `${name}(), for which 0 is sent meanwhile,`, clock, logger, fields: { instanceId } })
  return () => {
    try {
      const value = read()
      outage.succeeded()
      return value
    } catch (error) {
      outage.failed(error)
      return 0
    }
  }
}
