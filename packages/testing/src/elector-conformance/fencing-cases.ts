import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'
import type { Stage } from './stage.js'

function tokenOf(stage: Stage, elector: Stage['first']): bigint {
  const token = stage.fenced(elector).fencingToken
  assert.equal(typeof token, 'bigint', 'fencingToken of the leader must be a bigint')
  return token as bigint
}

function assertGrowing(tokens: readonly bigint[]): void {
  for (const [index, token] of tokens.entries()) {
    const earlier = tokens[index - 1]
    assert.ok(
      earlier === undefined || token > earlier,
      `each term must have a larger token than every earlier one, got ${tokens.join(', ')}`,
    )
  }
}

export const fencingCases: CaseGroup = {
  name: 'fencing token',
  cases: [
    {
      name: 'has no token while it does not lead',
      needs: ['fencingToken'],
      async run(stage) {
        const [first, second] = [stage.fenced(stage.first), stage.fenced(stage.second)]
        assert.equal(first.fencingToken, null, 'fencingToken must be null before the first term')
        await stage.acquire(first)
        await stage.tryAcquire(second)
        assert.equal(second.fencingToken, null, 'fencingToken of a refused rival must be null')
        await stage.release(first)
        assert.equal(first.fencingToken, null, 'fencingToken must be null after release()')
      },
    },
    {
      name: 'keeps one token for the whole term',
      needs: ['fencingToken'],
      async run(stage) {
        await stage.acquire(stage.first)
        const token = tokenOf(stage, stage.first)
        await stage.renew(stage.first)
        await stage.tryAcquire(stage.first)
        await stage.tryAcquire(stage.second)
        assert.equal(tokenOf(stage, stage.first), token, 'the token changed within a term')
      },
    },
    {
      name: 'has a larger token in every later term, whoever leads',
      needs: ['fencingToken'],
      async run(stage) {
        const { first, second } = stage
        const tokens: bigint[] = []
        for (const elector of [first, second, second, first, first, second]) {
          await stage.acquire(elector)
          tokens.push(tokenOf(stage, elector))
          await stage.release(elector)
        }
        assertGrowing(tokens)
      },
    },
    {
      name: 'has the token of the term when the gain is told, and none when the loss is told',
      needs: ['fencingToken'],
      async run(stage) {
        const first = stage.fenced(stage.first)
        const seen: (string | null)[] = []
        first.onLeaderChange(() => void seen.push(first.fencingToken === null ? null : typeof first.fencingToken))
        await stage.acquire(first)
        await stage.release(first)
        assert.deepEqual(seen, ['bigint', null], 'fencingToken must change together with isLeader')
      },
    },
    {
      name: 'has a larger token after the backend took leadership away',
      needs: ['fencingToken', 'loseLeadership'],
      async run(stage) {
        const { first, second } = stage
        const tokens: bigint[] = []
        for (const elector of [first, second, first]) {
          await stage.eventually(`${elector.identity} to lead`, () => elector.tryAcquire())
          tokens.push(tokenOf(stage, elector))
          await stage.loseLeadership(elector)
          await stage.eventually(`${elector.identity} to see its loss`, () => !elector.isLeader)
          assert.equal(stage.fenced(elector).fencingToken, null, 'fencingToken must be null after a loss')
        }
        assertGrowing(tokens)
      },
    },
  ],
}
