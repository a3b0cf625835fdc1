import { type Clock, systemClock } from './clock.js'

/**
 * Waits `seconds` on `clock`. Leaves no listener on `signal` and no timer behind, however it ends.
 *
 * @throws the signal's reason as soon as `signal` aborts, or at once if it already has.
 */
export function sleep(
  seconds: number,
  { clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const onAbort = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.setTimer(seconds, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
