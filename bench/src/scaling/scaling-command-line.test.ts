import { expect, it } from 'vitest'
import { parseScalingCommandLine } from './scaling-command-line.js'

it('measures everything unless something is left out', () => {
  expect(parseScalingCommandLine([])).toEqual({
    isRecord: false,
    json: null,
    largest: Number.POSITIVE_INFINITY,
    mostSubscriptions: Number.POSITIVE_INFINITY,
    isSimulatedOnly: false,
  })
  expect(parseScalingCommandLine(['--largest', '100', '--most-subscriptions', '10', '--simulated', '--json', 'x.json'])).toEqual({
    isRecord: false,
    json: 'x.json',
    largest: 100,
    mostSubscriptions: 10,
    isSimulatedOnly: true,
  })
  expect(parseScalingCommandLine(['--record']).isRecord).toBe(true)
})

it.each([
  { args: ['--larger', '1'], message: /--larger/ },
  { args: ['10'], message: /10/ },
  { args: ['--largest', 'ten'], message: /--largest must be a whole number of at least 1, got ten/ },
  { args: ['--most-subscriptions', '0'], message: /--most-subscriptions must be .* got 0/ },
  { args: ['--record', '--simulated'], message: /leave nothing out/ },
  { args: ['--record', '--largest', '10'], message: /leave nothing out/ },
])('refuses $args', ({ args, message }) => {
  expect(() => parseScalingCommandLine(args)).toThrow(message)
})
