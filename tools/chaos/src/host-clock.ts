/** Seconds on the monotonic clock that all processes of this machine share, also those in other network namespaces. */
export function hostSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9
}
