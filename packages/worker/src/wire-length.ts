// A message has room for 1,048,576 characters. Every name that an instance knows may have to be in its heartbeat once, as run or as declined; so may some that
// it does not know. What is left is for ids and the rest.

/** Most characters of all subscription names of an instance together, on the wire. */
export const MAX_WIRE_LENGTH = 786_432
/** Most characters of the names that it does not know, on the wire. */
export const MAX_UNKNOWN_WIRE_LENGTH = 98_304

const QUOTES_AND_COMMA = 3
const LONGEST_ESCAPE = 6

/** How long a name is at most in a message, where all but printable ASCII may be escaped. */
export function wireLength(name: string): number {
  let length = QUOTES_AND_COMMA
  for (let index = 0; index < name.length; index++) {
    const unit = name.charCodeAt(index)
    const isPlain = unit >= 0x20 && unit < 0x7f && unit !== 0x22 && unit !== 0x5c
    length += isPlain ? 1 : LONGEST_ESCAPE
  }
  return length
}
