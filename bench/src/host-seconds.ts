/** Seconds on the monotonic clock that all processes of this machine share, so that one can tell how long after another it did something. */
export function hostSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9
}
