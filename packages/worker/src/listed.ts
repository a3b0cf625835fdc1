const SHOWN = 10

/** Names for a person to read: the first few, and how many more there are. */
export function listed(names: readonly string[]): string {
  const more = names.length - SHOWN
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ')
}
