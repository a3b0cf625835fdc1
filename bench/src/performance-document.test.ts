import { expect, it } from 'vitest'
import { withMeasured } from './performance-document.js'

const document = [
  '# Performance',
  '<!-- measured: written by "pnpm bench --record" -->',
  'old',
  '<!-- end of what is measured -->',
  'The end.',
  '',
].join('\n')

it('replaces what is between the markers, and nothing else, any number of times', () => {
  const once = withMeasured(document, '| new |')
  expect(once).toContain(
    '# Performance\n<!-- measured: written by "pnpm bench --record" -->\n\n| new |\n\n<!-- end of what is measured -->\nThe end.\n',
  )
  expect(once).not.toContain('old')
  expect(withMeasured(once, '| new |')).toBe(once)
})

it('refuses a document without markers, rather than write over it', () => {
  expect(() => withMeasured('# Performance', '| new |')).toThrow(/lacks the markers/)
})

it('knows its markers by the command that writes them', () => {
  const other = document.replace('pnpm bench --record', 'pnpm bench scaling --record')
  expect(withMeasured(other, '| new |', 'pnpm bench scaling --record')).toContain('| new |')
  expect(() => withMeasured(other, '| new |')).toThrow(/lacks the markers/)
})
