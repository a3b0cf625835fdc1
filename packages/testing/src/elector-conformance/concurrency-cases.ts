import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

const RACES = 20

export const concurrencyCases: CaseGroup = {
  name: 'concurrent calls',
  cases: [
    {
      name: 'tells one gain when it is asked ten times at once',
      async run(stage) {
        const { first } = stage
        const changes = stage.changesOf(first)
        const asked = Array.from({ length: 10 }, () => first.tryAcquire())
        const answers = await stage.soon('ten tryAcquire() at once', Promise.all(asked))
        assert.deepEqual(answers, Array(10).fill(true), 'every tryAcquire() of the only one that asks must answer true')
        await stage.release(first)
        assert.deepEqual(changes, [true, false], 'ten attempts at once are one gain')
      },
    },
    {
      name: 'tells one loss when it is released five times at once',
      async run(stage) {
        const { first } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        const released = Array.from({ length: 5 }, () => first.release())
        await stage.soon('five release() at once', Promise.all(released))
        await stage.acquire(first)
        await stage.eventually('the second gain to be told', () => changes.length >= 3)
        assert.deepEqual(changes, [true, false, true], 'five releases at once are one loss')
      },
    },
    {
      name: 'never has two leaders, nor none, when both ask at once over and over',
      async run(stage) {
        const assertNeverTwo = stage.watchForTwoLeaders()
        for (let race = 1; race <= RACES; race++) {
          const answers = stage.soon(
            `race ${race}`,
            Promise.all(stage.contenders.map((elector) => Promise.all([elector.tryAcquire(), elector.tryAcquire(), elector.tryAcquire()]))),
          )
          const [first, second] = await answers
          const leading = stage.contenders.map(({ isLeader }) => isLeader)
          assert.equal(leading.filter(Boolean).length, 1, `race ${race}: exactly one must lead, isLeader is ${leading.join(' and ')}`)
          const expected = leading.map((isLeader) => Array(3).fill(isLeader))
          assert.deepEqual([first, second], expected, `race ${race}: the leader must have heard true each time, the other one false`)
          const [winner, loser] = leading[0] ? stage.contenders : [stage.second, stage.first]
          await stage.soon(`release() and tryAcquire() at once, after race ${race}`, Promise.all([winner.release(), loser.tryAcquire()]))
          await stage.release(loser)
        }
        assertNeverTwo()
      },
    },
    {
      name: 'tells gains and losses in turn, whatever is called at once',
      async run(stage) {
        const changes = stage.contenders.map((elector) => stage.changesOf(elector))
        for (let round = 0; round < RACES; round++) {
          const calls = stage.contenders.flatMap((elector, index) =>
            (round + index) % 2 === 0
              ? [elector.tryAcquire(), elector.release(), elector.tryAcquire(), elector.renew()]
              : [elector.release(), elector.tryAcquire(), elector.renew(), elector.release()],
          )
          await stage.soon('eight calls at once', Promise.all(calls))
        }
        for (const [index, elector] of stage.contenders.entries()) {
          await stage.eventually('the last change to be told', () => (changes[index]?.at(-1) ?? false) === elector.isLeader)
          const inTurn = changes[index]?.map((_, position) => position % 2 === 0)
          assert.deepEqual(changes[index], inTurn, `${elector.identity} must tell gains and losses in turn, starting with a gain`)
        }
      },
    },
  ],
}
