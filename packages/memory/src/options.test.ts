import { CoordinationError } from '@es/coordination-core'
import { expect, it } from 'vitest'
import { InMemoryLeaderElector, InMemoryOwnership, InMemoryTransport, SharedBus, SharedClaims, SharedLeaderState } from './index.js'

const HURTFUL: readonly unknown[] = [
  ...[null, true, 0, -1, 0.5, Number.NaN, 5n, '', '\ud800', 'x'.repeat(1025), 'x'.repeat(1_000_000), Symbol('s')],
  ...[[], {}, new Map(), Object.create(null), () => 1, new Date(Number.NaN), { now() {} }],
]

/** Everything that can be made, by what is wrong with it; `refuses` is what it must refuse at least. */
const MADE: readonly (readonly [what: string, make: (value: never) => unknown, refused: readonly unknown[]])[] = [
  ['the identity of an elector', (value) => new InMemoryLeaderElector(value), [null, 0, '', '\ud800', {}]],
  ['the options of an elector', (value) => new InMemoryLeaderElector('a', value), [null, 0, '', () => 1]],
  ['the state of an elector', (sharedState) => new InMemoryLeaderElector('a', { sharedState }), [null, 0, {}, SharedLeaderState]],
  ['the logger of an elector', (logger) => new InMemoryLeaderElector('a', { logger }), [0.5, {}, []]],
  ['the id of an ownership', (value) => new InMemoryOwnership(value, { claims: new SharedClaims() }), [null, 0, '', {}]],
  ['the options of an ownership', (value) => new InMemoryOwnership('a', value), [null, 0, {}]],
  ['the claims of an ownership', (claims) => new InMemoryOwnership('a', { claims }), [null, 0, {}]],
  ['the options of a transport', (value) => new InMemoryTransport(value), [null, 0, {}]],
  ['the bus of a transport', (bus) => new InMemoryTransport({ bus }), [null, 0, {}]],
  ['the name of a transport', (name) => new InMemoryTransport({ bus: new SharedBus(), name }), [null, 0, {}]],
  ['the logger of a transport', (logger) => new InMemoryTransport({ bus: new SharedBus(), logger }), [0.5, {}, []]],
  ['the options of a bus', (value) => new SharedBus(value), [null, 0, '']],
  ['the clock of a bus', (clock) => new SharedBus({ clock }), [null, 0, {}, { now() {} }]],
]

it.each(MADE)('%s, whatever it is, is taken, or refused with one documented error', (_, make, refused) => {
  const succeeds = (value: unknown): boolean => {
    try {
      make(value as never)
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(CoordinationError)
      expect((error as CoordinationError).code).toBe('invalid_options')
      expect((error as CoordinationError).message.length).toBeLessThan(500)
      return false
    }
  }
  for (const value of HURTFUL) succeeds(value)
  for (const value of refused) expect(succeeds(value), String(value)).toBe(false)
})
