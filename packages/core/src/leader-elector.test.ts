import { describe, expect, it } from 'vitest'
import { isLeaderElector, missingLeaderElectorMembers } from './leader-elector.js'

const METHODS = ['tryAcquire', 'release', 'renew', 'onLeaderChange', 'removeLeaderChangeCallback']

describe('isLeaderElector', () => {
  it('accepts whatever has all members, inherited ones included', () => {
    class Elector {
      identity = 'a'
      currentLeader = null
      get isLeader(): boolean {
        return false
      }
      tryAcquire(): void {}
      release(): void {}
      renew(): void {}
      onLeaderChange(): void {}
      removeLeaderChangeCallback(): void {}
    }
    expect(isLeaderElector(new Elector())).toBe(true)
    expect(missingLeaderElectorMembers(new Elector())).toEqual([])
  })

  it('names what is missing, and what is no method, in the order of the contract', () => {
    expect(missingLeaderElectorMembers({ identity: 'a', currentLeader: null, release: true })).toEqual(['isLeader', ...METHODS])
    for (const value of [null, undefined, 1, 'x', () => {}]) {
      expect(missingLeaderElectorMembers(value)).toEqual(['identity', 'isLeader', 'currentLeader', ...METHODS])
      expect(isLeaderElector(value)).toBe(false)
    }
  })
})
