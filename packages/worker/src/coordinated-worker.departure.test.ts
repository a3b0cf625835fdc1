import { type CoordinationError, ShutdownIntent } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { CLOSING_SECONDS } from './call-limits.js'
import { type Cluster, type Member, simulate, slowToStop, untilTold } from './cluster.test.harness.js'
import type { Behaviour } from './run-recorder.test.harness.js'

async function settle(cluster: Cluster, ids: readonly string[]): Promise<void> {
  for (const id of ids) await cluster.start(id)
  await cluster.until(() => cluster.isBalanced)
  await cluster.pass(10)
}

/** What a member has put on the bus since `since`, by the last part of the topic. */
function sentSince(
  { transport }: Member,
  since: number,
  topic: string,
): { readonly message: Readonly<Record<string, unknown>>; readonly at: number }[] {
  return transport.sent.filter(({ topic: name, at }) => at >= since && name.endsWith(`.${topic}`))
}

const never: Behaviour = () => new Promise(() => {})

describe('leaving', () => {
  it('waits for runs that end in time, abandons and names the rest at the limit, and starts nothing meanwhile (W8)', () =>
    simulate({ subscriptions: ['two', 'twenty', 'never'] }, async (cluster) => {
      const aborted: string[] = []
      const run: Behaviour = (name, context, member) => {
        context.signal.addEventListener('abort', () => aborted.push(`${name}: ${(context.signal.reason as CoordinationError).code}`))
        return name === 'never' ? never(name, context, member) : slowToStop(name === 'two' ? 2 : 20)(name, context, member)
      }
      const a = await cluster.start('a', { run, drainTimeoutSeconds: 5 })
      await cluster.pass(5)
      const b = await cluster.start('b', { mayLead: false, mayRun: () => false })
      await cluster.pass(1)
      const since = cluster.clock.monotonicSeconds()
      const first = a.worker.stop({ intent: ShutdownIntent.Maintenance })
      const others = [a.worker.stop(), a.worker.stop({ drainTimeoutSeconds: 0 }), a.worker[Symbol.asyncDispose]()]
      expect(a.worker.stop()).toBe(first)
      await cluster.pass(1)
      expect(aborted.toSorted()).toEqual(['never: run_stopping', 'twenty: run_stopping', 'two: run_stopping'])
      // An assignment, and a vacancy, while it drains.
      const assignment = {
        target_instance_id: 'a',
        subscriptions: ['two'],
        source_instance_id: 'x',
        assigned_at: '2026-01-01T00:00:00.000+00:00',
        epoch: '99',
      }
      cluster.bus.send('x', '__eventsource_coordination.work_assignment', assignment)
      await cluster.pass(3)
      expect(cluster.election.currentLeader).toBe(null)
      expect(cluster.owners.has('two')).toBe(false)
      await cluster.pass(0.9)
      expect(a.worker.status().phase).toBe('stopping')
      await cluster.pass(0.15)
      expect(a.worker.status().phase).toBe('stopped')
      expect(await first).toEqual({ abandoned: ['never', 'twenty'] })
      await Promise.all(others)
      expect(sentSince(a, since, 'shutdown')).toHaveLength(1)
      expect(a.eventsOf('run_started')).toHaveLength(3)
      expect(a.eventsOf('stopping')).toHaveLength(1)
      expect(a.eventsOf('stopped').map(({ abandoned }) => abandoned)).toEqual([['never', 'twenty']])
      expect(b.worker.status().peers.find(({ instanceId }) => instanceId === 'a')?.status).toMatch(/draining|terminated/)
      cluster.members.delete('a')
    }))

  it('announces, hands over, releases each as it stops, and says last that it has nothing', () =>
    simulate({ subscriptions: ['s1', 's2', 's3', 's4'] }, async (cluster) => {
      const run: Behaviour = (name, context, member) => slowToStop(Number(name.slice(1)))(name, context, member)
      const a = await cluster.start('a', { run })
      await cluster.pass(5)
      await cluster.start('b')
      await cluster.pass(1)
      const since = cluster.clock.monotonicSeconds()
      const { abandoned, seconds } = await cluster.stop('a', { intent: ShutdownIntent.Preemption, drainTimeoutSeconds: 30 })
      expect(abandoned).toEqual([])
      expect(seconds).toBeCloseTo(4, 1)
      const [notice] = sentSince(a, since, 'shutdown')
      expect(notice?.message).toMatchObject({ intent: 'preemption', subscriptions: ['s1', 's2', 's3', 's4'] })
      expect(Date.parse(String(notice?.message.expected_completion_at)) - Date.parse(String(notice?.message.initiated_at))).toBe(30_000)
      expect(a.transport.sent.filter(({ at }) => at >= since)[0]?.topic).toMatch(/shutdown$/)
      expect(sentSince(a, since, 'heartbeat').map(({ message }) => (message.subscriptions as string[]).length)).toEqual(
        expect.arrayContaining([4, 3, 2, 1, 0]),
      )
      expect(sentSince(a, since, 'heartbeat').at(-1)?.message).toMatchObject({ subscriptions: [], is_leader: false })
      expect(cluster.leader?.id).toBe('b')
      await cluster.until(() => cluster.isComplete, { withinSeconds: 0.1, stepSeconds: 0.001 })
      const started = cluster.recorder.runs.slice(4).map(({ subscription, startedAt }) => [subscription, Math.round(startedAt - since)])
      expect(started).toEqual([
        ['s1', 1],
        ['s2', 2],
        ['s3', 3],
        ['s4', 4],
      ])
      expect(a.eventsOf('run_stopped').map(({ cause }) => cause)).toEqual(['stopping', 'stopping', 'stopping', 'stopping'])
      expect(a.events.map(({ type }) => type).indexOf('stopping')).toBeLessThan(a.events.map(({ type }) => type).indexOf('leadership_lost'))
    }))

  it('with no time at all ends cleanly, and at once', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await cluster.start('a', { run: (name, context, member) => (name === 's00' ? never : untilTold)(name, context, member) })
      await cluster.pass(5)
      await cluster.start('b', { coldStartSeconds: 0 })
      await cluster.pass(1)
      const { abandoned, seconds } = await cluster.stop('a', { drainTimeoutSeconds: 0 })
      expect(abandoned).toEqual(['s00'])
      expect(seconds).toBeLessThan(0.1)
      expect(await cluster.until(() => cluster.isComplete)).toBeLessThan(0.1)
    }))

  it('is answered the same by every later call, and refuses to start again', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.stop('a')
      expect(await a.worker.stop()).toEqual({ abandoned: [] })
      await expect(a.worker.start()).rejects.toMatchObject({ code: 'already_started' })
    }))

  it('refuses an intent or a limit that is none, and has not begun then', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = await cluster.start('a')
      await cluster.pass(5)
      for (const options of [
        { intent: 'bored' as never },
        { drainTimeoutSeconds: -1 },
        { drainTimeoutSeconds: Number.NaN },
        { drainTimeoutSeconds: Number.POSITIVE_INFINITY },
      ]) {
        await expect(a.worker.stop(options)).rejects.toMatchObject({ code: 'invalid_options' })
      }
      expect(a.worker.status().phase).toBe('running')
      expect(a.running).toEqual(['s00'])
    }))

  it('ends within seconds of the limit though every call of every adapter hangs', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      await settle(cluster, ['a', 'b'])
      const a = cluster.member('a')
      const hang = (): Promise<never> => new Promise(() => {})
      a.transport.beforePublish = hang
      a.ownership!.fault.before = hang
      a.elector.release = hang
      a.elector.renew = hang
      const { seconds } = await cluster.stop('a', { drainTimeoutSeconds: 3 })
      expect(seconds).toBeLessThan(3 + 2 + 2 + 2 + 0.1)
      cluster.crash('b')
      a.ownership?.inner.forceLose()
    }))

  it('stands no more from the first moment, though its goodbye takes a while (W8)', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const other = { identity: 'other' }
      cluster.election.take(other)
      const a = await cluster.start('a')
      await cluster.pass(1)
      a.transport.beforePublish = (topic) => (topic.endsWith('shutdown') ? new Promise(() => {}) : undefined)
      void a.worker.stop()
      await cluster.pass(0.5)
      cluster.election.vacate(other, () => {})
      await cluster.pass(0.5)
      expect(cluster.election.currentLeader).toBe(null)
      expect(a.worker.status().phase).toBe('stopping')
    }))

  it('closes what it was given to dispose, in order, though one of them throws and one hangs', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const closed: string[] = []
      const disposable = (name: string, outcome: () => Promise<void>): AsyncDisposable => ({
        [Symbol.asyncDispose]: () => {
          closed.push(name)
          return outcome()
        },
      })
      await cluster.start('a', {
        dispose: [
          disposable('throws', () => Promise.reject(new Error('no'))),
          disposable('hangs', () => new Promise(() => {})),
          disposable('good', () => Promise.resolve()),
        ],
      })
      await cluster.stop('a')
      expect(closed).toEqual(['throws', 'hangs', 'good'])
    }))

  it('closes within one limit for all, though several hang, and closes the ones after them too', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const closed: string[] = []
      const disposable = (name: string, seconds: number): AsyncDisposable => ({
        [Symbol.asyncDispose]: () => {
          closed.push(name)
          return new Promise((resolve) => void cluster.clock.setTimer(seconds, resolve))
        },
      })
      const dispose = [disposable('slow', 2), disposable('hangs', 100), disposable('hangs too', 100), disposable('last', 0)]
      await cluster.start('a', { dispose })
      const { seconds } = await cluster.stop('a')
      expect(closed).toEqual(['slow', 'hangs', 'hangs too', 'last'])
      expect(seconds).toBeGreaterThan(CLOSING_SECONDS - 0.1)
      expect(seconds).toBeLessThan(CLOSING_SECONDS + 0.1)
      const failed = cluster.log.filter(({ message }) => message === 'An adapter could not be closed')
      expect(failed.map(({ fields }) => (fields.error as Error).message)).toEqual([
        expect.stringContaining('Closing an adapter took longer than 3 s'),
        expect.stringContaining('longer than 0 s'),
        expect.stringContaining('longer than 0 s'),
      ])
    }))

  it('of a worker that was never started only disposes', () =>
    simulate({}, async (cluster) => {
      const a = cluster.add('a')
      expect(await a.worker.stop()).toEqual({ abandoned: [] })
      expect(a.transport.sent).toEqual([])
      await expect(a.worker.start()).rejects.toMatchObject({ code: 'already_started' })
      cluster.members.delete('a')
    }))

  it('while starting leaves no subscription behind, and start() resolves', () =>
    simulate({}, async (cluster) => {
      const a = cluster.add('a')
      let isOpen = 0
      const { subscribe } = a.transport
      a.transport.subscribe = async (topic, handler) => {
        await new Promise<void>((resolve) => void cluster.clock.setTimer(1, resolve))
        const unsubscribe = await subscribe(topic, handler)
        isOpen++
        return () => {
          isOpen--
          unsubscribe()
        }
      }
      const starting = a.worker.start()
      await cluster.pass(0.5)
      await a.worker.stop()
      await cluster.pass(5)
      await starting
      expect(isOpen).toBe(0)
      expect(a.transport.sent).toEqual([])
      cluster.members.delete('a')
    }))

  it('lets a start that failed be tried again', () =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      const a = cluster.add('a')
      a.transport.inner.disconnect()
      await expect(a.worker.start()).rejects.toMatchObject({ code: 'unreachable' })
      expect(a.worker.status().phase).toBe('new')
      a.transport.inner.reconnect()
      await a.worker.start()
      await expect(a.worker.start()).rejects.toMatchObject({ code: 'already_started' })
      await cluster.pass(5)
      expect(a.running).toEqual(['s00'])
    }))
})

describe('leaving from inside', () => {
  it('a run, before its first await', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      let stopped: Promise<unknown> | undefined
      const a = await cluster.start('a', {
        run: (name, context, member) => {
          stopped ??= member.worker.stop()
          return untilTold(name, context, member)
        },
      })
      await cluster.pass(10)
      expect(await stopped).toEqual({ abandoned: [] })
      expect(a.worker.status().phase).toBe('stopped')
      cluster.members.delete('a')
    }))

  it('an abort listener of a run that is revoked', () =>
    simulate({ subscriptions: 4 }, async (cluster) => {
      const a = await cluster.start('a', {
        run: (name, context, member) => {
          context.signal.addEventListener('abort', () => void member.worker.stop())
          return untilTold(name, context, member)
        },
      })
      await cluster.pass(5)
      await cluster.start('b')
      await cluster.pass(10)
      expect(a.worker.status().phase).toBe('stopped')
      expect(cluster.member('b').running).toHaveLength(4)
      cluster.members.delete('a')
    }))

  it('an abort listener of a run, in the same step in which something else is released: each is released once', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const released: string[] = []
      const a = cluster.add('a', {
        mayLead: false,
        run: (name, context, member) => {
          if (name === 's00') return Promise.reject(new Error('no luck'))
          context.signal.addEventListener('abort', () => void member.worker.stop())
          return untilTold(name, context, member)
        },
      })
      const release = a.ownership!.inner.release.bind(a.ownership!.inner)
      a.ownership!.inner.release = (wanted) => {
        released.push(...wanted)
        return release(wanted)
      }
      void a.worker.start()
      await cluster.pass(0.1)
      const assign = (subscriptions: readonly string[], revision: number): void =>
        cluster.bus.send('x', '__eventsource_coordination.work_assignment', {
          ...{ target_instance_id: 'a', subscriptions, source_instance_id: 'x', epoch: '1', revision },
          assigned_at: '2026-01-01T00:00:00.000+00:00',
        })
      assign(['s00', 's01'], 1)
      await cluster.pass(0.1)
      assign([], 2)
      await cluster.pass(5)
      expect(released.toSorted()).toEqual(['s00', 's01'])
      expect(a.worker.status().phase).toBe('stopped')
      cluster.members.delete('a')
    }))

  for (const type of [
    'started',
    'leadership_gained',
    'planned',
    'assignment_changed',
    'run_started',
    'stopping',
    'leadership_lost',
    'run_stopped',
  ] as const) {
    it(`an event listener, told of ${type}`, () =>
      simulate({ subscriptions: 4 }, async (cluster) => {
        const a = cluster.add('a')
        a.worker.onEvent((event) => {
          if (event.type === type) void a.worker.stop()
        })
        void a.worker.start()
        await cluster.pass(10)
        void a.worker.stop()
        await cluster.pass(1)
        expect(a.worker.status().phase).toBe('stopped')
        expect(a.events.at(-1)?.type).toBe('stopped')
        cluster.members.delete('a')
      }))
  }
})

describe('events', () => {
  it('come in the order in which they happened, to all listeners, though one of them acts on them and another is slow', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = cluster.add('a')
      const seen: string[][] = [[], [], []]
      a.worker.onEvent(async ({ type }) => {
        seen[0]?.push(type)
        await new Promise<void>((resolve) => void cluster.clock.setTimer(5, resolve))
      })
      a.worker.onEvent(({ type }) => {
        seen[1]?.push(type)
        if (type === 'run_started') void a.worker.stop()
      })
      a.worker.onEvent(({ type }) => void seen[2]?.push(type))
      void a.worker.start()
      await cluster.pass(30)
      expect(seen[1]).toEqual(seen[0])
      expect(seen[2]).toEqual(seen[0])
      cluster.members.delete('a')
    }))

  it('reach the other listeners though one throws and one rejects; one that unsubscribed hears no more', () =>
    simulate({ subscriptions: 2 }, async (cluster) => {
      const a = cluster.add('a')
      const heard: string[] = []
      a.worker.onEvent(() => {
        throw new Error('listener')
      })
      a.worker.onEvent(() => Promise.reject(new Error('async listener')))
      const unsubscribe = a.worker.onEvent(({ type }) => {
        heard.push(type)
        unsubscribe()
      })
      void a.worker.start()
      await cluster.pass(5)
      expect(heard).toEqual(['started'])
      expect(a.running).toHaveLength(2)
      expect(new Set(cluster.log.filter(({ level }) => level === 'error').map(({ message }) => message))).toEqual(
        new Set(['An event listener failed; the others are still told']),
      )
    }))
})
