import { expect, test } from 'vitest'
import { clusterSettings, recoveryBounds } from './cluster-settings.js'

test('the bounds are the worst lines of the table in the README, and a second for the machine', () => {
  const settings = { ...clusterSettings(6), longestRetrySeconds: 2, coldStartSeconds: 4, observeIntervalSeconds: 3, crashGraceSeconds: 5 }
  expect(recoveryBounds(settings)).toEqual({ leaderSeconds: 6 + 2 + 2 + 1, ownerSeconds: 6 + 2 + 2 + 4 + 3 * (3 + 5) + 1 })
})
