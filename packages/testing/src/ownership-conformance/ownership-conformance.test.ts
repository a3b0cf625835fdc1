import { describe, expect, it } from 'vitest'
import { failuresOf } from '../conformance/failures-of.fixture.js'
import { lies } from './lies/all-lies.fixture.js'
import { FakeClaims } from './lies/fake-claims.fixture.js'
import { HonestOwnership, MAX_CLAIMS } from './lies/honest-ownership.fixture.js'
import type { Lie } from './lies/lie.fixture.js'
import { type OwnershipCase, ownershipCases, ownershipConformance } from './ownership-conformance.js'
import type { OwnershipContest, OwnershipWorld } from './ownership-world.js'

interface FakeContest extends OwnershipContest {
  readonly backend: FakeClaims
}

const LEASE_SECONDS = 1
const PAUSE = 'holds nothing on the first line that runs after a pause longer than the lease'

function fakeWorld({
  lie: name,
  ownership: FakeOwnership = HonestOwnership,
  slowPowers = [],
}: Pick<Lie, 'lie'> &
  Partial<Pick<Lie, 'ownership'>> & { readonly slowPowers?: readonly Lie['slowPower'][] }): OwnershipWorld<FakeContest> {
  const hasLease = slowPowers.includes('leaseExpiry')
  return {
    name,
    patienceSeconds: 1.5,
    async open() {
      const backend = new FakeClaims(hasLease ? { leaseSeconds: LEASE_SECONDS } : {})
      const contenders = [new FakeOwnership('a', backend), new FakeOwnership('b', backend)] as const
      return {
        backend,
        contenders,
        async close() {
          for (const contender of contenders) contender.stop()
        },
      }
    },
    powers: {
      namesHolders: true,
      refusesBatchOf: MAX_CLAIMS + 1,
      async loseClaims({ backend }, owner) {
        backend.takeAway(owner)
        ;(owner as HonestOwnership).onTakenAway()
      },
      async disconnect(_contest, owner) {
        const lost = owner as HonestOwnership
        lost.disconnect()
        return async () => lost.reconnect()
      },
      close: (_contest, owner) => (owner as HonestOwnership).close(),
      ...(slowPowers.includes('hang') && { hang: async ({ backend }: FakeContest) => backend.hang() }),
      ...(hasLease && {
        leaseExpiry: {
          leaseSeconds: LEASE_SECONDS,
          cutOff: async ({ backend }: FakeContest, owner: object) => backend.cutOff(owner),
        },
      }),
    },
  }
}

/** Not beside the others, which it would stop with the whole process. */
async function failuresWithPause(cases: readonly OwnershipCase[]): Promise<string[]> {
  const failures = await failuresOf(cases.filter(({ name }) => name !== PAUSE))
  const duringPause = await failuresOf(cases.filter(({ name }) => name === PAUSE))
  const all = new Set([...failures, ...duringPause])
  return cases.map(({ name }) => name).filter((name) => all.has(name))
}

ownershipConformance({ describe, it }, fakeWorld({ lie: 'An honest ownership', slowPowers: ['hang', 'leaseExpiry'] }))

describe('the suite', () => {
  it('has a liar for every case', () => {
    const caught = new Set(lies.flatMap(({ fails }) => fails))
    const names = ownershipCases(fakeWorld({ lie: 'any' })).map(({ name }) => name)
    expect(names.filter((name) => !caught.has(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain(PAUSE)
  })
})

describe.concurrent('an ownership that lies fails the cases that name the lie, and no other', () => {
  const withoutLease = lies.filter(({ slowPower }) => slowPower !== 'leaseExpiry')
  it.each(withoutLease)('$lie', { timeout: 60_000 }, async ({ fails, slowPower, ...lie }) => {
    expect(await failuresOf(ownershipCases(fakeWorld({ ...lie, slowPowers: [slowPower] })))).toEqual(fails)
  })
})

describe('an ownership that lies about its lease fails the cases that name the lie, and no other', () => {
  const withLease = lies.filter(({ slowPower }) => slowPower === 'leaseExpiry')
  it.each(withLease)('$lie', { timeout: 60_000 }, async ({ fails, slowPower, ...lie }) => {
    expect(await failuresWithPause(ownershipCases(fakeWorld({ ...lie, slowPowers: [slowPower] })))).toEqual(fails)
  })
})
