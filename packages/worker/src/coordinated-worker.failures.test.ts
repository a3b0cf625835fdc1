import type { CoordinationError } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { BUS_SECONDS, type Cluster, simulate, slowToStop, untilTold } from './cluster.test.harness.js'
import type { Behaviour } from './run-recorder.test.harness.js'

/** Ends by itself, one way or the other, after `seconds`. */
function endsAfter(seconds: number, error?: Error): Behaviour {
  return (_subscription, { signal }, { gate }) =>
    new Promise((resolve, reject) => {
      const cancel = gate.setTimer(seconds, () => (error ? reject(error) : resolve()))
      signal.addEventListener('abort', () => {
        cancel()
        resolve()
      })
    })
}

async function settle(cluster: Cluster, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cluster.start(id)
  await cluster.until(() => cluster.isBalanced)
  await cluster.pass(10)
}

describe('a run that fails', () => {
  it('moves to another instance after maxRunFailures, and says so (A4 a)', () =>
    simulate({ subscriptions: ['s01'] }, async (cluster) => {
      const fails: Behaviour = (name, context, member) =>
        member.id === 'a' ? Promise.reject(new Error('no luck')) : untilTold(name, context, member)
      const a = await cluster.start('a', { run: fails, maxRunFailures: 3 })
      await cluster.start('b', { run: fails })
      const seconds = await cluster.until(() => cluster.owners.get('s01') === 'b')
      expect(a.eventsOf('run_failed').map(({ failures, retryInSeconds }) => [failures, retryInSeconds !== null])).toEqual([
        [1, true],
        [2, true],
        [3, false],
      ])
      expect(a.worker.status().work.find(({ subscription }) => subscription === 's01')).toMatchObject({
        phase: 'declined',
        failures: 3,
        lastError: 'no luck',
      })
      expect(a.worker.health().problems.map(({ code }) => code)).toContain('run_failing')
      // Two pauses of at most 1 s and 2 s.
      expect(seconds).toBeLessThan(2 + 1 + 2 + 0.2)
    }))

  it('comes back after declineSeconds when nobody else can run it', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = await cluster.start('a', { run: endsAfter(0, new Error('no luck')), maxRunFailures: 2, declineSeconds: 20 })
      await cluster.pass(10)
      expect(a.eventsOf('run_failed')).toHaveLength(2)
      expect(a.worker.plan()?.unassigned).toEqual([{ subscription: 's00', reason: 'not_allowed_anywhere' }])
      await cluster.pass(25)
      expect(a.eventsOf('run_failed').length).toBeGreaterThan(2)
    }))

  it('is started again with a pause that doubles, is capped and has jitter', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = await cluster.start('a', {
        run: endsAfter(0, new Error('no luck')),
        maxRunFailures: 100,
        longestRunPauseSeconds: 8,
        random: () => 0.999999,
      })
      await cluster.pass(60)
      const pauses = a.eventsOf('run_failed').map(({ retryInSeconds }) => Math.round(retryInSeconds ?? -1))
      expect(pauses.slice(0, 7)).toEqual([1, 2, 4, 8, 8, 8, 8])
      const starts = a.eventsOf('run_started').map(({ at }) => at)
      expect(starts.slice(1).every((at, index) => Math.abs(at - (starts[index] ?? 0) - (pauses[index] ?? 0)) < 0.01)).toBe(true)
    }))

  it('keeps its claim, and its token, during the pause: nobody else starts it meanwhile', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = await cluster.start('a', { run: endsAfter(5, new Error('no luck')), maxRunFailures: 100 })
      await cluster.start('b')
      await cluster.pass(60)
      expect(new Set(a.eventsOf('run_started').map(({ fencingToken }) => fencingToken)).size).toBe(1)
      const [failing] = a.eventsOf('run_failed')
      expect(new Set(cluster.recorder.runsOf(failing?.subscription ?? '').map(({ member }) => member.id))).toEqual(new Set(['a']))
    }))

  it('that only returns early is reported without an error, and started again (A4 b)', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = await cluster.start('a', { run: endsAfter(1) })
      await cluster.pass(6)
      expect(a.eventsOf('run_failed')[0]).toMatchObject({ subscription: 's00', error: null, failures: 1 })
      expect(a.eventsOf('run_started').length).toBeGreaterThan(1)
      expect(a.worker.health().problems.find(({ code }) => code === 'run_failing')?.message).toContain('ended by itself')
    }))

  it('is forgiven once it has gone well for longer than the longest pause', () =>
    simulate({ subscriptions: 1, defaults: { longestRunPauseSeconds: 5 } }, async (cluster) => {
      let tries = 0
      const a = await cluster.start('a', {
        run: (name, context, member) => (tries++ < 3 ? Promise.reject(new Error('no luck')) : untilTold(name, context, member)),
      })
      await cluster.pass(15)
      expect(a.worker.status().work[0]).toMatchObject({ phase: 'running', failures: 0, lastError: null })
      expect(a.worker.health().status).toBe('ok')
    }))

  it('that throws before its first await, or something that is no error, does no harm', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = await cluster.start('a', {
        run: (name) => {
          // biome-ignore lint/style/useThrowOnlyError: users do.
          throw name === 's00' ? new Error('at once') : undefined
        },
      })
      await cluster.pass(4)
      expect(new Set(a.eventsOf('run_failed').map(({ subscription }) => subscription))).toEqual(new Set(['s00', 's01']))
    }))

  it('that takes 20 s to get going is not taken for a failure (A4 c)', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const slowToStart: Behaviour = (name, context, member) =>
        new Promise((resolve) => {
          member.gate.wait(20, () => void untilTold(name, context, member).then(resolve))
          context.signal.addEventListener('abort', () => resolve())
        })
      await cluster.start('a', { run: slowToStart })
      await cluster.start('b', { run: slowToStart })
      await cluster.pass(60)
      expect(cluster.recorder.startsPerSubscription()).toEqual([1])
    }))
})

describe('a run that does not end', () => {
  it('is abandoned at the deadline, and named; the next owner starts then, and the abandoned one is not started beside itself (W8)', () =>
    simulate({ subscriptions: 2, defaults: { drainTimeoutSeconds: 5 } }, async (cluster) => {
      let finish: () => void = () => {}
      const deaf: Behaviour = () => new Promise((resolve) => (finish = resolve))
      const a = await cluster.start('a', { run: deaf })
      await cluster.pass(5)
      const b = await cluster.start('b')
      await cluster.pass(2.1)
      const [moved] = a.worker.status().work.filter(({ phase }) => phase === 'stopping')
      await cluster.pass(4.8)
      expect(b.running).toEqual([])
      await cluster.pass(0.5)
      expect(a.eventsOf('run_abandoned').map(({ subscription }) => subscription)).toEqual([moved?.subscription])
      expect(b.running).toEqual([moved?.subscription])
      expect(a.worker.health().problems.find(({ code }) => code === 'run_abandoned')?.message).toContain(moved?.subscription)
      // b leaves: a declines what it may still be running.
      await cluster.stop('b')
      await cluster.pass(5)
      expect(a.eventsOf('run_started')).toHaveLength(2)
      finish()
      await cluster.pass(1)
      expect(a.eventsOf('run_started')).toHaveLength(3)
    }))

  it('gets the rest of the drain limit and no more when its worker stops after it was told', () =>
    simulate({ subscriptions: 2, defaults: { drainTimeoutSeconds: 100 } }, async (cluster) => {
      await cluster.start('a', { run: () => new Promise(() => {}) })
      await cluster.pass(5)
      await cluster.start('b')
      await cluster.pass(4)
      expect((await cluster.stop('a', { drainTimeoutSeconds: 5 })).seconds).toBeLessThan(5.1)
    }))
})

describe('a claim', () => {
  it('that is lost ends the run at once with run_lost, also through `lost`, and the subscription runs anew under a larger token', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const told: unknown[] = []
      const run: Behaviour = (_name, { signal, lost }) =>
        new Promise((resolve) => {
          lost.addEventListener('abort', () => told.push('lost', (lost.reason as CoordinationError).code))
          signal.addEventListener('abort', () => {
            told.push('signal', (signal.reason as CoordinationError).code)
            resolve()
          })
        })
      const a = await cluster.start('a', { run })
      await cluster.pass(5)
      a.ownership?.inner.forceLose()
      expect(told).toEqual(['lost', 'run_lost', 'signal', 'run_lost'])
      await cluster.pass(1)
      expect(a.eventsOf('claim_lost').map(({ fencingToken }) => fencingToken)).toEqual([1n])
      expect(a.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['lost'])
      expect(a.eventsOf('run_started').map(({ fencingToken }) => fencingToken)).toEqual([1n, 2n])
    }))

  it('that is lost while the run drains aborts `lost`, and only then', () =>
    simulate({ subscriptions: 2, run: slowToStop(10) }, async (cluster) => {
      const seen: boolean[] = []
      const a = await cluster.start('a', {
        run: (name, context, member) => {
          context.lost.addEventListener('abort', () => seen.push(context.signal.aborted))
          return slowToStop(10)(name, context, member)
        },
      })
      await cluster.pass(5)
      await cluster.start('b')
      await cluster.pass(4)
      const [leaving] = a.worker.status().work.filter(({ phase }) => phase === 'stopping')
      expect(seen).toEqual([])
      a.ownership?.inner.forceLose([leaving?.subscription ?? ''])
      expect(seen).toEqual([true])
      await cluster.until(() => cluster.isBalanced)
      expect(a.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['lost'])
    }))

  it('that somebody else released, or closed, counts as lost: nothing runs without one', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.pass(5)
      await a.ownership?.inner.close()
      await cluster.pass(0)
      expect(cluster.owners.size).toBe(0)
      expect(a.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['lost', 'lost'])
      await cluster.pass(5)
      expect(a.worker.health().problems.map(({ code }) => code)).toContain('claims_failing')
    }))

  it('is told apart: `revoked` before a move, `stopping` before the end', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const reasons: string[] = []
      const run: Behaviour = (_name, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push((signal.reason as CoordinationError).code)
            reject(signal.reason)
          }),
        )
      await cluster.start('a', { run })
      await cluster.pass(5)
      await cluster.start('b', { run })
      await cluster.pass(5)
      await cluster.stop('b')
      expect(reasons).toEqual(['run_revoked', 'run_stopping'])
      expect(cluster.log.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    }))

  it('that comes after its call had timed out is not leaked: it is used', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      const { fault } = a.ownership!
      let calls = 0
      fault.after = (method) =>
        method === 'claim' && calls++ === 0 ? new Promise((resolve) => cluster.clock.setTimer(15, resolve)) : undefined
      void a.worker.start()
      await cluster.pass(13)
      expect(a.worker.health().problems.map(({ code }) => code)).not.toContain('claims_denied')
      await cluster.pass(10)
      expect(a.running).toEqual(['s00'])
      expect(cluster.recorder.startsPerSubscription()).toEqual([1])
    }))

  it('that comes after its call had timed out, and is not wanted any more, is released', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.ownership!.fault.after = (method) =>
        method === 'claim' ? new Promise((resolve) => cluster.clock.setTimer(12, resolve)) : undefined
      void a.worker.start()
      await cluster.pass(3)
      expect(cluster.claims.holderOf('s00')).toBe('a')
      expect((await cluster.stop('a')).seconds).toBeLessThan(1)
      await cluster.pass(15)
      expect(cluster.claims.holderOf('s00')).toBe(null)
    }))

  it('that is denied is reported with its holder, and tried again when that one lets go unheard', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const stranger = {}
      const a = cluster.add('a')
      const original = a.ownership!.inner.observe.bind(a.ownership!.inner)
      a.ownership!.inner.observe = async (wanted) => new Map([...(await original(wanted))].filter(([name]) => name !== 's00'))
      cluster.claims.take('s00', stranger, 'stranger')
      void a.worker.start()
      await cluster.pass(25)
      expect(a.eventsOf('claims_denied').map(({ denied }) => denied)).toEqual([[{ subscription: 's00', holder: 'stranger' }]])
      expect(a.worker.health().problems.find(({ code }) => code === 'claims_denied')?.message).toContain('s00 (stranger)')
      cluster.claims.free('s00', stranger)
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(1.1)
      expect(a.eventsOf('claims_denied').at(-1)?.denied).toEqual([])
    }))

  it('that is denied does not hold up a claim on what is free', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const b = await cluster.start('b', { mayLead: false })
      cluster.claims.take('s00', {}, 'stranger')
      const assign = (subscriptions: readonly string[], revision: number): void =>
        cluster.bus.send('x', '__eventsource_coordination.work_assignment', {
          ...{
            target_instance_id: 'b',
            subscriptions,
            source_instance_id: 'x',
            assigned_at: '2026-01-01T00:00:00.000+00:00',
            epoch: '1',
            revision,
          },
        })
      assign(['s00'], 1)
      await cluster.pass(1.5)
      assign(['s00', 's01'], 2)
      await cluster.pass(0.01)
      expect(b.running).toEqual(['s01'])
      cluster.claims.free('s00', {})
    }).catch((error: unknown) => expect(String(error)).toContain('Claims left: s00')))
})

describe('an outage', () => {
  it('of bus, claims and elector stops all runs, and everything resumes when it is back', () =>
    simulate({ subscriptions: 12, defaults: { noLeaderWarningSeconds: 10 } }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c'])
      for (const { transport, ownership, elector } of cluster.members.values()) {
        transport.inner.disconnect()
        ownership?.inner.disconnect()
        void elector.inner.forceLoseLeadership()
      }
      await cluster.pass(0)
      expect(cluster.owners.size).toBe(0)
      await cluster.pass(20)
      expect(cluster.recorder.runs).toHaveLength(12)
      for (const { worker } of cluster.members.values()) {
        expect(worker.health()).toMatchObject({ status: 'degraded', isReady: false })
        expect(worker.status().whyIdle).not.toBeNull()
      }
      for (const { transport, ownership } of cluster.members.values()) {
        transport.inner.reconnect()
        ownership?.inner.reconnect()
      }
      expect(await cluster.until(() => cluster.isBalanced)).toBeLessThan(10)
      await cluster.pass(20)
      for (const { worker } of cluster.members.values()) expect(worker.health().status).toBe('ok')
    }))

  it('of the claims alone is retried with backoff, and reported in a handful of lines', () =>
    simulate({ subscriptions: 12 }, async (cluster) => {
      await settle(cluster, ['a', 'b'])
      let calls = 0
      for (const { ownership } of cluster.members.values()) {
        ownership!.fault.before = (method) => {
          if (method === 'claim') calls++
        }
        ownership?.inner.disconnect()
      }
      const lines = cluster.log.length
      await cluster.pass(60)
      // Two workers, at most one try every 2.5 s once the pause is at its longest.
      expect(calls).toBeLessThan(2 * 30)
      expect(cluster.log.length - lines).toBeLessThan(60)
      for (const { ownership } of cluster.members.values()) ownership?.inner.reconnect()
      expect(await cluster.until(() => cluster.isBalanced)).toBeLessThan(10)
    }))

  it('of the claims alone is reported when it begins, when its error changes, and when it is over', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      await settle(cluster, ['a'])
      const { fault, inner } = cluster.member('a').ownership!
      let reason = 'refused'
      fault.before = (method) => {
        if (method === 'claim') throw new Error(reason)
      }
      inner.forceLose()
      await cluster.pass(1.2)
      reason = 'the lock table is full'
      await cluster.pass(2.5)
      fault.before = () => {}
      await cluster.until(() => cluster.isComplete)
      expect(cluster.log.map(({ message }) => message).filter((message) => message.startsWith('Claiming'))).toEqual([
        'Claiming subscriptions fails: refused',
        'Claiming subscriptions fails: the lock table is full',
        'Claiming subscriptions works again',
      ])
    }))
})

describe('a leader cut off from the bus (A9)', () => {
  for (const hasOwnership of [true, false]) {
    for (const kind of ['refused', 'swallowed'] as const) {
      it(`gives nothing away, ${hasOwnership ? 'with claims' : 'with a bus only'}, messages ${kind}; no double owners after 30 s (A9)`, () =>
        simulate({ subscriptions: 50, hasOwnership }, async (cluster) => {
          await settle(
            cluster,
            Array.from({ length: 10 }, (_, index) => `w${index}`),
          )
          const leader = cluster.leader!
          const before = new Map(cluster.owners)
          const cut = (isCut: boolean): void => {
            if (kind === 'swallowed') {
              const drop = ({ from, to }: { readonly from: string; readonly to: string }): boolean => from === leader.id || to === leader.id
              cluster.bus.faults = { delaySeconds: () => BUS_SECONDS, ...(isCut && { drop }) }
            } else if (isCut) leader.transport.inner.disconnect()
            else leader.transport.inner.reconnect()
          }
          cut(true)
          await cluster.pass(20)
          expect(leader.worker.health().problems.map(({ code }) => code)).toContain('deaf')
          expect(leader.elector.isLeader).toBe(true)
          // Without claims it has to believe that the others take it for gone.
          expect(cluster.owners.size).toBe(hasOwnership ? 50 : 45)
          await cluster.pass(10)
          cut(false)
          await cluster.pass(60)
          expect(cluster.counts).toEqual(Array.from({ length: 10 }, () => 5))
          const restarted = cluster.recorder.runs.slice(50).map(({ subscription }) => before.get(subscription))
          expect(restarted.filter((owner) => hasOwnership || owner !== leader.id)).toEqual([])
        }))
    }
  }

  it('steps down after maxFailedRounds, another one leads, and what it holds by claim stays with it (A9)', () =>
    simulate({ subscriptions: 12 }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c'])
      const a = cluster.leader!
      const before = new Map(cluster.owners)
      a.transport.inner.disconnect()
      // Deaf 13.5 s after its last heartbeat, and then three rounds of 5 s.
      const seconds = await cluster.until(() => !a.elector.isLeader)
      expect(seconds).toBeGreaterThan(13.5 - 5 + 15)
      expect(seconds).toBeLessThan(13.5 + 15 + 5)
      await cluster.pass(20)
      expect(a.eventsOf('leader_stepped_down')).toHaveLength(1)
      expect(a.eventsOf('leadership_lost')).toHaveLength(1)
      expect(cluster.leader?.id).toBe('b')
      expect(cluster.owners).toEqual(before)
      a.transport.inner.reconnect()
      await cluster.pass(20)
      expect(cluster.owners).toEqual(before)
      expect(a.worker.health().status).toBe('ok')
    }))

  it('warns when most peers fall silent at once though it hears itself, and holds their work for massLossHoldSeconds (A9)', () =>
    simulate({ subscriptions: 50, hasOwnership: false, defaults: { massLossHoldSeconds: 40 } }, async (cluster) => {
      await settle(
        cluster,
        Array.from({ length: 10 }, (_, index) => `w${index}`),
      )
      const leader = cluster.leader!
      const since = cluster.clock.monotonicSeconds()
      for (const id of [...cluster.members.keys()]) if (id !== leader.id) cluster.crash(id)
      await cluster.pass(50)
      expect(leader.worker.health().problems.map(({ code }) => code)).toContain('mass_loss')
      expect(cluster.recorder.runs.filter(({ startedAt }) => startedAt > since)).toEqual([])
      expect(leader.worker.status().plan?.held.join()).toContain('Most instances fell silent at once')
      await cluster.until(() => cluster.isComplete)
      expect(cluster.clock.monotonicSeconds() - since).toBeLessThan(15 + 40 + 3)
    }))

  it('does not hold what the claims prove free', () =>
    simulate({ subscriptions: 50 }, async (cluster) => {
      await settle(cluster, ['a', 'b', 'c', 'd'])
      for (const id of ['b', 'c', 'd']) cluster.crash(id)
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(1.1)
    }))
})
