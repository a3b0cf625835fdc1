// The server keeps printable ASCII only and cuts at 63 bytes, so everything else is percent-encoded.
const LONGEST = 63

/** `identity` as an `application_name`: readable, reversible, at most 63 bytes, and never cut inside an encoded character. */
export function encodeApplicationName(identity: string): string {
  let encoded = ''
  for (const character of identity) {
    const next = encoded + (/[\x20-\x7e]/.test(character) && character !== '%' ? character : encodeURIComponent(character))
    if (next.length > LONGEST) break
    encoded = next
  }
  return encoded
}

/** The identity behind an `application_name`, or its first part when it was too long; a name that is not ours is returned as it is. */
export function decodeApplicationName(applicationName: string): string {
  try {
    return decodeURIComponent(applicationName)
  } catch {
    return applicationName
  }
}
