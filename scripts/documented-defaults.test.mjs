// The defaults in docs/operations.md are those that the options themselves state.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['postgres', 'worker'].flatMap((name) => {
  const folder = join(root, 'packages', name, 'src')
  return readdirSync(folder)
    .filter((file) => /(options|lock-session)\.ts$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
})

/** The default that the docstring of an option states. */
function statedDefaults(option) {
  const docstring = new RegExp(`@default ((?:(?!\\*/|\\n).)+?)\\s*(?:\\n\\s*)?\\*/\\s*readonly ${option}\\?:`, 'g')
  return sources.flatMap((source) => [...source.matchAll(docstring)].map(([, value]) => value.trim()))
}

const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
const rows = [...operations.matchAll(/^\| `(?<option>\w+Seconds)` *\| (?<value>[^|]+?) *\|/gm)].map(({ groups }) => [
  groups.option,
  groups.value,
])

test('the table of settings is found', () => {
  expect(rows.length).toBeGreaterThan(5)
})

test.each(rows)('%s has the default %s', (option, value) => {
  const stated = statedDefaults(option)
  expect(stated.length, `no docstring of ${option} states a default`).toBeGreaterThan(0)
  expect(new Set(stated)).toEqual(new Set([value]))
})
