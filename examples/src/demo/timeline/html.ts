/** Text as it may stand in HTML, in an attribute too. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** A number as SVG likes it: short. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100)
}

/** A table; cells are HTML already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], className = ''): string {
  const cells = (tag: 'th' | 'td', row: readonly string[]): string => row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')
  return `<table class="${className}"><thead><tr>${cells('th', head)}</tr></thead><tbody>${rows
    .map((row) => `<tr>${cells('td', row)}</tr>`)
    .join('')}</tbody></table>`
}
