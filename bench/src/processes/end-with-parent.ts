/**
 * Ends this process when its parent is gone.
 *
 * @param end what to do then. @default process.exit
 */
export function endWithParent(end: () => void = () => process.exit()): void {
  process.on('disconnect', end)
  // The parent may have ended while this module was still being loaded, and nobody was listening.
  if (!process.connected) end()
}
