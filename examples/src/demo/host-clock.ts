/**
 * Seconds on the monotonic clock that all processes of this machine share. `performance.now()` starts at zero in each of them, so
 * it cannot order what two processes did.
 */
export function hostSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9
}
