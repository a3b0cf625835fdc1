const END = '<!-- end of what is measured -->'

/**
 * `document` with `measured` between its two markers.
 *
 * @param command what writes it, as the first marker says.
 * @throws Error when it lacks a marker.
 */
export function withMeasured(document: string, measured: string, command = 'pnpm bench --record'): string {
  const marker = `<!-- measured: written by "${command}" -->`
  const begin = document.indexOf(marker)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`The document lacks the markers ${marker} and ${END}`)
  return `${document.slice(0, begin)}${marker}\n\n${measured}\n\n${document.slice(end)}`
}
