/** Whether two lists hold the same names in the same order. */
export function isSameList(one: readonly string[], other: readonly string[] | null | undefined): boolean {
  if (one === other) return true
  return other != null && one.length === other.length && one.every((name, index) => name === other[index])
}
