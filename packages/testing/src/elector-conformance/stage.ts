import assert from 'node:assert/strict'
import type { CampaigningLeaderElector, FencedLeaderElector, LeaderElector } from '@es/coordination-core'
import { ConformanceStage } from '../conformance/conformance-stage.js'
import type { LeaderElectorElection, LeaderElectorPowers } from './leader-elector-world.js'

/** What a case works with: the two contenders of an election of its own. */
export class Stage extends ConformanceStage<LeaderElectorElection, LeaderElectorPowers> {
  get first(): LeaderElector {
    return this.setup.contenders[0]
  }

  get second(): LeaderElector {
    return this.setup.contenders[1]
  }

  get contenders(): readonly [LeaderElector, LeaderElector] {
    return this.setup.contenders
  }

  /** Makes `elector` the leader, in a case about something else. */
  async acquire(elector: LeaderElector): Promise<void> {
    assert.equal(await this.tryAcquire(elector), true, `tryAcquire() of ${elector.identity} should have won: nobody leads`)
  }

  tryAcquire(elector: LeaderElector): Promise<boolean> {
    return this.soon(`tryAcquire() of ${elector.identity}`, elector.tryAcquire())
  }

  release(elector: LeaderElector): Promise<void> {
    return this.soon(`release() of ${elector.identity}`, elector.release())
  }

  renew(elector: LeaderElector): Promise<boolean> {
    return this.soon(`renew() of ${elector.identity}`, elector.renew())
  }

  /** What `elector` tells from now on, in order; the array grows. */
  changesOf(elector: LeaderElector): readonly boolean[] {
    const changes: boolean[] = []
    elector.onLeaderChange((isLeader) => void changes.push(isLeader))
    return changes
  }

  /** Watches, every millisecond and whenever a change is told, whether both lead; the returned function fails if ever they did. */
  watchForTwoLeaders(): () => void {
    const [first, second] = this.contenders
    let sawTwo = false
    const look = (): void => {
      sawTwo ||= first.isLeader && second.isLeader
    }
    for (const elector of this.contenders) elector.onLeaderChange(look)
    this.watch(look)
    return () => {
      look()
      assert.equal(sawTwo, false, 'both contenders led at one instant')
    }
  }

  fenced(elector: LeaderElector): FencedLeaderElector {
    assert.ok('fencingToken' in elector, 'the power fencingToken is declared, but the elector has no fencingToken')
    return elector as FencedLeaderElector
  }

  /** Starts to wait for leadership; a campaign without a signal is aborted when the case ends. */
  campaign(elector: LeaderElector, signal: AbortSignal = this.ending): Promise<void> {
    assert.ok('campaign' in elector, 'the power campaign is declared, but the elector has no campaign()')
    const campaign = (elector as CampaigningLeaderElector).campaign({ signal })
    // A case that fails before it awaits the campaign must not leave an unhandled rejection.
    campaign.catch(() => {})
    return campaign
  }

  async loseLeadership(leader: LeaderElector): Promise<void> {
    await this.soon('loseLeadership() of the world', this.power('loseLeadership')(this.setup, leader))
  }

  hang(): Promise<() => Promise<void>> {
    return this.breakUntilMended('hang() of the world', this.power('hang')(this.setup))
  }

  get leaseSeconds(): number {
    return this.power('leaseExpiry').leaseSeconds
  }

  cutOff(leader: LeaderElector): Promise<() => Promise<void>> {
    return this.breakUntilMended('cutOff() of the world', this.power('leaseExpiry').cutOff(this.setup, leader))
  }

  get currentLeaderWithinSeconds(): number {
    return this.power('currentLeaderWithinSeconds')
  }
}
