// Code in the documents is taken from the examples, which run in the tests, and links lead somewhere: what a reader copies works.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const markdown = (folder, recursive) => readdirSync(join(root, folder), { recursive }).filter((name) => name.endsWith('.md'))
const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name))
const documents = ['.', ...packages].flatMap((folder) => markdown(folder, false).map((name) => join(folder, name)))
documents.push(...markdown('docs', true).map((name) => join('docs', name)))

/** The TypeScript blocks of a document, each with the file it says it is from. */
function codeBlocks(text) {
  return [...text.matchAll(/(?:<!-- from (?<source>\S+) -->\n)?```ts\n(?<code>[\s\S]*?)```/g)].map(({ groups }) => groups)
}

const lines = (text) => text.split('\n').map((line) => line.trim())

/** Whether the lines of `code` stand in `source` one after the other, indented in any way. A line of just `// ...` stands for any lines. */
function isTakenFrom(code, source) {
  let rest = `\n${lines(source).join('\n')}\n`
  for (const part of lines(code.trim())
    .join('\n')
    .split(/\n?\/\/ \.\.\.\n?/)) {
    const at = rest.indexOf(`\n${part}\n`)
    if (at < 0) return false
    rest = rest.slice(at + part.length + 1)
  }
  return true
}

test('a block that was changed is not taken for the original', () => {
  expect(isTakenFrom('const a = 1\n// ...\nconst c = 3', '  const a = 1\n  const b = 2\n  const c = 3\n')).toBe(true)
  expect(isTakenFrom('const a = 2', 'const a = 1\n')).toBe(false)
  expect(isTakenFrom('const c = 3\n// ...\nconst a = 1', 'const a = 1\nconst c = 3\n')).toBe(false)
})

describe.each(documents)('%s', (document) => {
  const text = readFileSync(join(root, document), 'utf8')

  test('shows only code that is taken from a file of this project', () => {
    for (const { source, code } of codeBlocks(text)) {
      expect(source, `a block without <!-- from file -->:\n${code}`).toBeDefined()
      expect(isTakenFrom(code, readFileSync(join(root, source), 'utf8')), `not in ${source}:\n${code}`).toBe(true)
    }
  })

  test('links to files that exist', () => {
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)) {
      const path = join(root, dirname(document), target)
      expect(existsSync(path), `${document} links to ${relative(root, path)}`).toBe(true)
    }
  })
})
