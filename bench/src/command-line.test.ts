import { expect, it } from 'vitest'
import { parseCommandLine } from './command-line.js'

it('names select, and there is nothing to say for all', () => {
  expect(parseCommandLine([])).toEqual({ names: [], mode: 'run', json: null })
  expect(parseCommandLine(['elector', 'worker/planned-move', '--json', 'x.json'])).toEqual({
    names: ['elector', 'worker/planned-move'],
    mode: 'run',
    json: 'x.json',
  })
})

it('a separator that pnpm hands on is no name', () => {
  expect(parseCommandLine(['--', 'elector', '--check'])).toEqual({ names: ['elector'], mode: 'check', json: null })
})

it.each([
  { args: ['--chek'], message: /--chek/ },
  { args: ['--json'], message: /--json/ },
  { args: ['--check', '--record'], message: /exclude each other/ },
  { args: ['--record', 'elector'], message: /give it no names/ },
])('refuses $args', ({ args, message }) => {
  expect(() => parseCommandLine(args)).toThrow(message)
})
