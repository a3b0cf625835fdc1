import { diffSubscriptions, type SubscriptionDiff, type SubscriptionDiffInput } from './subscription-diff.js'
import { IDLE_SUBSCRIPTION, type SubscriptionState } from './subscription-diff-state.js'

export const NOW = 100
export const CLAIMS: readonly SubscriptionState['claim'][] = ['none', 'requested', 'held', 'releasing']
export const RUNS: readonly SubscriptionState['run'][] = ['none', 'running', 'revoked', 'aborted', 'given_up']

export const state = (
  claim: SubscriptionState['claim'],
  run: SubscriptionState['run'],
  rest: Partial<SubscriptionState> = {},
): SubscriptionState => ({
  ...IDLE_SUBSCRIPTION,
  claim,
  run,
  ...rest,
})
export const cooperative = (...reportedElsewhere: string[]): SubscriptionDiffInput['exclusivity'] => ({
  kind: 'cooperative',
  reportedElsewhere: new Set(reportedElsewhere),
})
export const diff = (input: Partial<SubscriptionDiffInput>): SubscriptionDiff =>
  diffSubscriptions({
    desired: new Set(),
    states: new Map(),
    isShuttingDown: false,
    nowSeconds: NOW,
    exclusivity: { kind: 'claims' },
    ...input,
  })

/** What is decided about one subscription, in words: `stop:revoke`, `claim`, `waiting:retry`, … or nothing. */
export function decisions(result: SubscriptionDiff): string {
  return [
    ...result.stop.map(({ how }) => `stop:${how}`),
    ...result.giveUp.map(() => 'giveUp'),
    ...result.release.map(() => 'release'),
    ...result.claim.map(() => 'claim'),
    ...result.start.map(() => 'start'),
    ...result.waiting.map((waiting) => `waiting:${waiting.for}`),
  ].join(' ')
}
export const about = (x: SubscriptionState, input: Partial<SubscriptionDiffInput>): string =>
  decisions(diff({ ...input, states: new Map([['x', x]]) }))
export const wanted = { desired: new Set(['x']) }
export const leaving = { ...wanted, isShuttingDown: true }
