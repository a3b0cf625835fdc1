import { expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { LockClient } from './lock-client.js'
import { LockOwnership } from './lock-ownership.js'
import { LockServer } from './lock-server.js'
import { SeededRandom } from './seeded-random.js'
import { SimulatedProcess } from './simulated-process.js'
import { Wire } from './wire.js'

it('a claim that is given up between its two requests leaves no lock', async () => {
  const clock = new ManualClock()
  const server = new LockServer({ clock, leaseSeconds: 3 })
  const open = (name: string): LockOwnership => {
    const process = new SimulatedProcess({ clock })
    const wire = new Wire({ clock, process, random: new SeededRandom(1, name), faults: () => [] })
    const lease = { leaseSeconds: 3, renewDeadlineSeconds: 2, requestTimeoutSeconds: 1 }
    const locks = new LockClient({ ...lease, server, wire, name, clock: process, trusted: () => {}, check: (session) => session.check() })
    return new LockOwnership(name, locks)
  }
  const [a, b] = [open('a'), open('b')]
  const first = a.claim(['taken'])
  await clock.advance(0.1)
  expect((await first).claimed).toHaveLength(1)

  const giveUp = new AbortController()
  const second = b.claim(['taken', 'free'], { signal: giveUp.signal })
  second.catch(() => {})
  // It has the lock, and asks who holds the other one.
  for (let step = 0; step < 1000 && !server.locks.includes('claim/free'); step++) await clock.advance(0.0005)
  const asked = server.statements
  for (let step = 0; step < 1000 && server.statements === asked; step++) await clock.advance(0.0001)
  giveUp.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  await clock.advance(0.1)
  expect(b.held.size).toBe(0)
  expect(server.locks).toEqual(['claim/taken'])
})
