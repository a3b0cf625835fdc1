/** Collects what is rejected without a handler anywhere in this process, instead of letting it end the process. */
export function collectUnhandledRejections(): { end(): Promise<readonly unknown[]> } {
  const reasons: unknown[] = []
  const collect = (reason: unknown): void => void reasons.push(reason)
  process.on('unhandledRejection', collect)
  return {
    async end() {
      // They are told before the next macrotask.
      await new Promise((resolve) => setImmediate(resolve))
      process.off('unhandledRejection', collect)
      return reasons
    },
  }
}
