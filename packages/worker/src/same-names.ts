/** Whether both hold the same names, in any order; `one` names each once. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(other)
  return one.length === set.size && one.every((name) => set.has(name))
}
