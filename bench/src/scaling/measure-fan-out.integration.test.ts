import { expect, inject, it } from 'vitest'
import { measureFanOut } from './measure-fan-out.js'

const isHere = process.platform === 'linux' && !process.env.DATABASE_URL

it.runIf(isHere)(
  'finds what a notification costs a server and its clients (needs the /proc of the server)',
  { timeout: 120_000 },
  async () => {
    const figures = await measureFanOut(inject('databaseUrl'), 20)
    expect(figures.listeners).toBe(20)
    expect(figures.serverSecondsHeard).toBeGreaterThan(0)
    expect(figures.clientSecondsHeard).toBeGreaterThan(0)
    for (const seconds of [figures.serverSecondsHeard, figures.serverSecondsWoken, figures.clientSecondsHeard])
      expect(seconds).toBeLessThan(0.1)
  },
)
