import { describe, expect, it } from 'vitest'
import { type Cluster, simulate } from './cluster.test.harness.js'
import type { LeaderWork } from './worker-options.js'

async function settle(cluster: Cluster, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cluster.start(id)
  await cluster.until(() => cluster.isBalanced)
  await cluster.pass(10)
}

/** Leader's work that takes `seconds` to end after it was told to, and writes down when it begins and ends. */
function recordedWork(cluster: Cluster, journal: string[], id: string, seconds = 0): LeaderWork {
  return async (signal, term) => {
    journal.push(`${id} begins ${term}`)
    await new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))
    if (seconds > 0) await new Promise<void>((resolve) => void cluster.clock.setTimer(seconds, resolve))
    journal.push(`${id} ends ${term}`)
  }
}

describe('leadership', () => {
  it('goes on from one to the next, ten losses in a row, and all still stand at the end (E11)', () =>
    simulate({ subscriptions: 6 }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c'])
      for (let round = 0; round < 10; round++) {
        void cluster.leader?.elector.inner.forceLoseLeadership()
        expect(await cluster.until(() => cluster.leader !== undefined)).toBeLessThan(2)
        await cluster.pass(1)
      }
      expect(cluster.election.waitingCount).toBe(2)
      expect(cluster.recorder.startsPerSubscription()).toEqual([1])
      for (const { events } of cluster.lives) {
        const turns = events.filter(({ type }) => type === 'leadership_gained' || type === 'leadership_lost').map(({ type }) => type)
        expect(turns.every((type, index) => type === (index % 2 === 0 ? 'leadership_gained' : 'leadership_lost'))).toBe(true)
      }
    }))

  it('that was held before the start is taken up once (E9)', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const journal: string[] = []
      const a = cluster.add('a', { leaderWork: recordedWork(cluster, journal, 'a') })
      await a.elector.inner.tryAcquire()
      void a.worker.start()
      await cluster.pass(5)
      expect(journal).toEqual(['a begins 1'])
      expect(a.eventsOf('leadership_gained').map(({ epoch }) => epoch)).toEqual([1n])
      expect(a.events.map(({ type }) => type).slice(0, 2)).toEqual(['started', 'leadership_gained'])
      expect(a.running).toHaveLength(2)
    }))

  it('is never sought with mayLead: false', () =>
    simulate({ subscriptions: 2, defaults: { mayLead: false, noLeaderWarningSeconds: 20 } }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.pass(60)
      expect(cluster.election.waitingCount).toBe(0)
      expect(a.eventsOf('leadership_gained')).toEqual([])
      expect(a.worker.health().problems.map(({ code }) => code)).toEqual(['no_leader'])
      expect(a.worker.status().whyIdle).toMatch(/not been assigned anything yet.*No leader is known.*no leader for/s)
      expect(a.worker.plan()).toBe(null)
    }))

  it('is given up by a leader whose planner fails, for another whose planner works', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const failure = new Error('no plan')
      const a = await cluster.start('a', {
        planner: () => {
          throw failure
        },
      })
      await cluster.start('b')
      expect(cluster.leader?.id).toBe('a')
      const seconds = await cluster.until(() => cluster.isComplete)
      expect(seconds).toBeLessThan(15 + 2 + 1)
      expect(a.eventsOf('leader_stepped_down').map(({ reason }) => reason)).toEqual(['Planning failed: no plan'])
      const logged = cluster.log.filter(({ message }) => message === 'Leading fails: Planning failed: no plan')
      expect(logged.map(({ fields }) => (fields.error as Error).cause)).toEqual([failure])
      expect(() => a.worker.plan()).not.toThrow()
      await cluster.pass(60)
      expect(cluster.leader?.id).toBe('b')
    }))

  it('is given up by a leader that cannot look at the claims, also when the look hangs', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const a = cluster.add('a')
      a.ownership!.fault.before = (method) => (method === 'observe' ? new Promise(() => {}) : undefined)
      void a.worker.start()
      await cluster.start('b')
      await cluster.until(() => cluster.leader?.id === 'b')
      expect(a.eventsOf('leader_stepped_down')).toHaveLength(1)
      await cluster.until(() => cluster.isBalanced)
    }))

  it('is taken up again when it could not be given up: somebody has to plan', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const a = cluster.add('a', { maxFailedRounds: 1 })
      let isFailing = true
      a.ownership!.fault.before = (method) => {
        if (method === 'observe' && isFailing) throw new Error('no look')
      }
      const { release } = a.elector
      a.elector.release = () => new Promise(() => {})
      void a.worker.start()
      await cluster.pass(20)
      expect(a.eventsOf('leader_stepped_down').length).toBeGreaterThan(0)
      isFailing = false
      await cluster.pass(20)
      expect(a.running).toHaveLength(4)
      a.elector.release = release
    }))

  it('is not acted upon once the lease has run out, though the loss is told late', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const a = cluster.add('a')
      let isTrusted = true
      Object.defineProperty(a.elector, 'isLeader', { get: () => isTrusted && a.elector.inner.isLeader })
      void a.worker.start()
      await cluster.pass(5)
      await cluster.start('b')
      isTrusted = false
      await cluster.pass(20)
      expect(cluster.member('b').worker.status().desired).toBe(null)
      expect(cluster.counts).toEqual([4, 0])
      isTrusted = true
      await cluster.until(() => cluster.isBalanced)
    }))

  it('of an elector that cannot campaign passes on at once: followers ask when the leader says that it leads no more', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      for (const id of ['a', 'b']) {
        const member = cluster.add(id, { electionIntervalSeconds: 100 })
        Object.defineProperty(member.elector, 'campaign', { value: undefined })
        void member.worker.start()
        await cluster.pass(1)
      }
      await cluster.pass(10)
      await cluster.stop('a')
      expect(await cluster.until(() => cluster.leader?.id === 'b')).toBeLessThan(0.1)
    }))

  it('that is released by a callback of the user on every gain does not become a busy loop', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      let gains = 0
      a.elector.inner.onLeaderChange(async (isLeader) => {
        if (!isLeader) return
        gains++
        await a.elector.inner.release()
      })
      void a.worker.start()
      await cluster.pass(10)
      expect(gains).toBeLessThan(15)
      expect(gains).toBeGreaterThan(2)
    }))
})

describe("the leader's work", () => {
  it('runs in the leader alone, and begins in the next one only after it has ended in the one that leaves', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const journal: string[] = []
      for (const id of ['a', 'b']) await cluster.start(id, { leaderWork: recordedWork(cluster, journal, id, 4) })
      await cluster.pass(10)
      expect(journal).toEqual(['a begins 1'])
      const { seconds } = await cluster.stop('a')
      expect(seconds).toBeCloseTo(4, 1)
      await cluster.pass(1)
      expect(journal).toEqual(['a begins 1', 'a ends 1', 'b begins 2'])
    }))

  it('that does not end is waited for until the limit, and no longer', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      await cluster.start('a', { leaderWork: () => new Promise(() => {}), drainTimeoutSeconds: 5 })
      await cluster.start('b')
      await cluster.pass(10)
      expect((await cluster.stop('a')).seconds).toBeCloseTo(5, 1)
      expect(cluster.leader?.id).toBe('b')
    }))

  it('of a leader that steps down has ended before the next one leads', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const journal: string[] = []
      const a = cluster.add('a', { leaderWork: recordedWork(cluster, journal, 'a', 3), maxFailedRounds: 1 })
      a.ownership!.fault.before = (method) => {
        if (method === 'observe') throw new Error('no look')
      }
      void a.worker.start()
      await cluster.start('b', { leaderWork: recordedWork(cluster, journal, 'b') })
      await cluster.until(() => journal.length === 3)
      expect(journal).toEqual(['a begins 1', 'a ends 1', 'b begins 2'])
    }))

  it('is started again after it threw, with a pause, and not after it returned', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      let calls = 0
      const a = await cluster.start('a', {
        leaderWork: () => {
          calls++
          if (calls < 3) throw new Error('no luck')
          return Promise.resolve()
        },
      })
      await cluster.pass(30)
      expect(calls).toBe(3)
      expect(a.elector.isLeader).toBe(true)
    }))

  it('of one term has ended before that of the next begins, when leadership is lost and regained', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const journal: string[] = []
      const a = await cluster.start('a', { leaderWork: recordedWork(cluster, journal, 'a', 3) })
      await cluster.pass(5)
      void a.elector.inner.forceLoseLeadership()
      await cluster.pass(1)
      expect(a.elector.isLeader).toBe(true)
      expect(journal).toEqual(['a begins 1'])
      await cluster.pass(3)
      expect(journal).toEqual(['a begins 1', 'a ends 1', 'a begins 2'])
    }))

  it('is not begun anew by a loss during the drain: nobody who leaves stands again (W8)', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const journal: string[] = []
      const a = await cluster.start('a', { leaderWork: recordedWork(cluster, journal, 'a', 10) })
      await cluster.pass(5)
      void a.worker.stop()
      await cluster.pass(1)
      void a.elector.inner.forceLoseLeadership()
      await cluster.pass(5)
      expect(cluster.election.currentLeader).toBe(null)
      expect(cluster.election.waitingCount).toBe(0)
      await cluster.pass(5)
      expect(journal).toEqual(['a begins 1', 'a ends 1'])
      cluster.members.delete('a')
    }))
})

describe('no working leader (O1)', () => {
  it('is reported with the name of who holds the lock, in health, status and the log, and as an event (O1)', () =>
    simulate({ subscriptions: 6 }, async (cluster) => {
      const stranger = { identity: 'psql' }
      cluster.election.take(stranger)
      for (const id of ['a', 'b', 'c']) await cluster.start(id)
      await cluster.pass(20)
      for (const { worker } of cluster.members.values()) expect(worker.health().status).toBe('ok')
      await cluster.pass(280)
      for (const { worker, events } of cluster.members.values()) {
        const health = worker.health()
        expect(health.status).toBe('degraded')
        expect(health.problems).toMatchObject([
          { code: 'leader_silent', message: expect.stringMatching(/psql.*has not been heard for 3\d\d s/) },
        ])
        // Since it was first seen, not since it was last asked for.
        expect(cluster.clock.now().getTime() - (health.problems[0]?.since.getTime() ?? 0)).toBeGreaterThan(260_000)
        expect(worker.status().whyIdle).toContain('psql')
        expect(events.filter(({ type }) => type === 'health_changed')).toMatchObject([{ status: 'degraded', problems: ['leader_silent'] }])
      }
      expect(cluster.log.filter(({ level, message }) => level === 'warn' && message === 'The worker is degraded')).toHaveLength(3)
      cluster.election.vacate(stranger, () => {})
      expect(await cluster.until(() => cluster.isBalanced)).toBeLessThan(5)
      await cluster.pass(10)
      for (const { worker } of cluster.members.values()) expect(worker.health().status).toBe('ok')
    }))

  it('is told apart from a leader that is heard but has assigned nothing', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      await settle(cluster, ['a', 'b'])
      const { whyIdle, leader } = cluster.member('b').worker.status()
      expect(leader?.instanceId).toBe('a')
      expect(whyIdle).toBe('The leader has assigned nothing to it.')
    }))

  it('makes a leader that cannot renew unfit to live', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.elector.renew = () => Promise.resolve(false)
      void a.worker.start()
      await cluster.pass(12)
      expect(a.worker.health()).toMatchObject({ isLive: false, problems: [{ code: 'renewal_failing' }] })
      a.elector.renew = () => Promise.resolve(true)
      await cluster.pass(12)
      expect(a.worker.health()).toMatchObject({ isLive: true, status: 'ok' })
      a.elector.renew = () => new Promise(() => {})
      await cluster.pass(12)
      expect(a.worker.health()).toMatchObject({ isLive: false, problems: [{ code: 'renewal_failing' }] })
    }))
})

describe('what the worker tells about itself', () => {
  it('is plain data that JSON can hold', () =>
    simulate({ subscriptions: 6, defaults: { capacity: 2 } }, async (cluster) => {
      for (const id of ['a', 'b']) await cluster.start(id)
      await cluster.pass(10)
      for (const { worker } of cluster.members.values()) {
        const status = worker.status()
        const copy = JSON.parse(JSON.stringify(status)) as typeof status
        expect(copy.work.map(({ subscription }) => subscription)).toEqual(status.work.map(({ subscription }) => subscription))
        expect(copy).toEqual(JSON.parse(JSON.stringify(copy)))
        expect(JSON.stringify(status)).not.toContain('undefined')
      }
      const { epoch, work, peers, plan, leader } = cluster.member('a').worker.status()
      expect({ epoch, leader: leader?.instanceId }).toEqual({ epoch: '1', leader: 'a' })
      expect(work[0]).toMatchObject({
        phase: 'running',
        fencingToken: expect.stringMatching(/^\d+$/),
        failures: 0,
        lastError: null,
        holder: null,
      })
      expect(peers[0]).toMatchObject({ instanceId: 'b', status: 'healthy', isLeader: false })
      expect(plan?.unassigned).toHaveLength(2)
    }))

  it('includes a dry run of the plan, which changes nothing and gives reasons', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await settle(cluster, ['a'])
      await cluster.start('b')
      await cluster.pass(1.9)
      const runs = cluster.recorder.runs.length
      const sent = cluster.member('a').transport.sent.length
      const plans = [1, 2, 3].map(() => cluster.member('a').worker.plan())
      expect(plans[0]?.movesHeldBack).toBe(true)
      expect(plans[1]).toEqual(plans[0])
      expect(cluster.member('b').worker.plan()).toBe(null)
      expect(cluster.recorder.runs).toHaveLength(runs)
      expect(cluster.member('a').transport.sent).toHaveLength(sent)
      expect(cluster.member('a').worker.status().plan?.held).toEqual([
        'The members changed a moment ago; moves for balance wait until they have settled',
      ])
    }))

  it('is null as a plan while a new leader listens', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const a = await cluster.start('a')
      expect(a.worker.plan()).toBe(null)
      expect(a.worker.status().whyIdle).toMatch(/not been assigned anything yet/)
      await cluster.pass(1)
      expect(a.worker.status().plan?.held).toEqual(['This leader is new and listens first'])
    }))
})
