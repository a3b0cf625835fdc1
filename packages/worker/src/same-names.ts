/** Whether both hold the same names in the same order. */
export function isSameList(one: readonly string[], other: readonly string[] | undefined): boolean {
  return other !== undefined && one.length === other.length && one.every((name, index) => name === other[index])
}

/** Whether both hold the same names, in any order; `one` names each once. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(other)
  return one.length === set.size && one.every((name) => set.has(name))
}
