import type { Logger } from '@es/coordination-core'
import { InMemoryLeaderElector } from './in-memory-leader-elector.js'
import { SharedLeaderState } from './shared-leader-state.js'

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Electors of one election. */
export function cluster(...identities: string[]): { state: SharedLeaderState; electors: InMemoryLeaderElector[] } {
  const sharedState = new SharedLeaderState()
  return {
    state: sharedState,
    electors: identities.map((identity) => new InMemoryLeaderElector(identity, { sharedState, logger: silent })),
  }
}

export function pair(): { state: SharedLeaderState; a: InMemoryLeaderElector; b: InMemoryLeaderElector } {
  const { state, electors } = cluster('a', 'b')
  const [a, b] = electors
  if (!a || !b) throw new Error('two electors expected')
  return { state, a, b }
}

/** What `elector` tells from now on. */
export function changesOf(elector: InMemoryLeaderElector): boolean[] {
  const changes: boolean[] = []
  elector.onLeaderChange((isLeader) => void changes.push(isLeader))
  return changes
}

/** A promise that a test settles by hand. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
