const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Calls `leave` on the first SIGTERM or SIGINT. From the second on the signal does what it does by itself: it ends the process at once.
 * Returns how to stop listening.
 */
export function onTerminationSignal(leave: (signal: NodeJS.Signals) => void): () => void {
  const stop = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    // Without a listener of ours a further signal has its default effect.
    stop()
    leave(signal)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return stop
}
