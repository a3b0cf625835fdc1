const BEGIN = '<!-- measured: written by "pnpm bench --record" -->'
const END = '<!-- end of what is measured -->'

/**
 * `document` with `measured` between its two markers.
 *
 * @throws Error when it lacks a marker.
 */
export function withMeasured(document: string, measured: string): string {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`The document lacks the markers ${BEGIN} and ${END}`)
  return `${document.slice(0, begin)}${BEGIN}\n\n${measured}\n\n${document.slice(end)}`
}
