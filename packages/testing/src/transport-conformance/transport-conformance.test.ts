import { describe, expect, it } from 'vitest'
import { failuresOf } from '../conformance/failures-of.fixture.js'
import { lies } from './lies/all-lies.fixture.js'
import { FakeMedium } from './lies/fake-medium.fixture.js'
import { HonestTransport, MAX_BYTES } from './lies/honest-transport.fixture.js'
import type { Lie } from './lies/lie.fixture.js'
import { transportCases, transportConformance } from './transport-conformance.js'
import type { TransportMedium, TransportWorld } from './transport-world.js'

interface FakeMediumOpened extends TransportMedium {
  readonly medium: FakeMedium
}

function fakeWorld({
  lie: name,
  transport: FakeTransport = HonestTransport,
  loopback = true,
}: Omit<Partial<Lie>, 'fails'> & Pick<Lie, 'lie'>): TransportWorld<FakeMediumOpened> {
  return {
    name,
    patienceSeconds: 1,
    async open({ logger }) {
      const medium = new FakeMedium()
      const join = () => new FakeTransport({ medium, logger, hearsItself: loopback })
      return { transports: [join(), join(), join()], medium, async close() {} }
    },
    powers: {
      loopback,
      logging: true,
      carriesBytes: MAX_BYTES,
      refusesBytes: MAX_BYTES + 1,
      async disconnect(_medium, transport) {
        const lost = transport as HonestTransport
        lost.disconnect()
        return async () => lost.reconnect()
      },
      garbage: async ({ medium }, topic) => medium.send(medium, topic, '{"text": "cut'),
      close: (_medium, transport) => (transport as HonestTransport).close(),
    },
  }
}

transportConformance({ describe, it }, fakeWorld({ lie: 'An honest transport' }))
transportConformance({ describe, it }, fakeWorld({ lie: 'An honest transport that does not hear itself', loopback: false }))

describe('the suite', () => {
  it('has a liar for every case', () => {
    const caught = new Set(lies.flatMap(({ fails }) => fails))
    const names = transportCases(fakeWorld({ lie: 'any' })).map(({ name }) => name)
    expect(names.filter((name) => !caught.has(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})

describe.concurrent('a transport that lies fails the cases that name the lie, and no other', () => {
  it.each(lies)('$lie', { timeout: 60_000 }, async ({ fails, ...lie }) => {
    expect(await failuresOf(transportCases(fakeWorld(lie)))).toEqual(fails)
  })
})
