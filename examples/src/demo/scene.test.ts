import { expect, test } from 'vitest'
import { fewestMovesOnJoin } from './scene.js'
import { SceneLog } from './scene-log.js'

test.for([
  [12, 2, 2, 6],
  [12, 3, 1, 3],
  [12, 0, 4, 12],
  [10, 2, 1, 3],
] as const)('%i subscriptions, %i workers and %i more: at least %i moves', ([total, before, joining, expected]) => {
  expect(fewestMovesOnJoin(total, { before, joining })).toBe(expected)
})

test('a phase ends where the next one begins', () => {
  const log = new SceneLog()
  const phase = { gapLimitSeconds: 1, fewestStarts: 0 }
  log.begin('start', { title: 'one', ...phase }, 1)
  log.begin('kill', { title: 'two', ...phase }, 3)
  log.amend({ fewestStarts: 4 })
  log.end(7)
  log.end(9)
  expect(log.phases).toEqual([
    { kind: 'start', title: 'one', from: 1, until: 3, ...phase },
    { kind: 'kill', title: 'two', from: 3, until: 7, gapLimitSeconds: 1, fewestStarts: 4 },
  ])
})
