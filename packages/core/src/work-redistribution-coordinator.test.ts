import { describe, expect, it } from 'vitest'
import { Observer } from './coordinator.test.harness.js'
import { ConnectionError, CoordinationError, InvalidMessageError } from './errors.js'
import type { LeaderElector } from './leader-elector.js'
import { at, ManualClock, RecordingLogger } from './manual-clock.test.harness.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { WorkAssignment } from './work-assignment.js'
import { WorkRedistributionCoordinator } from './work-redistribution-coordinator.js'

function elector(overrides: Partial<LeaderElector> = {}): LeaderElector {
  return {
    identity: 'me',
    isLeader: true,
    currentLeader: 'me',
    tryAcquire: async () => true,
    release: async () => {},
    renew: async () => true,
    onLeaderChange() {},
    removeLeaderChangeCallback: () => false,
    ...overrides,
  }
}

function assign(
  target: string,
  { epoch, revision, subscriptions = [] }: { epoch?: bigint; revision?: number; subscriptions?: string[] } = {},
): WorkAssignment {
  return new WorkAssignment({ targetInstanceId: target, subscriptions, sourceInstanceId: 'leader', assignedAt: at(0), epoch, revision })
}

describe('options', () => {
  it.each([
    [{ instanceId: '' }, /instanceId must be non-empty/],
    [{ instanceId: 'a', heartbeatTimeoutSeconds: 0 }, /heartbeatTimeoutSeconds must be a finite number of seconds above 0, got 0/],
    [{ instanceId: 'a', heartbeatTimeoutSeconds: -1 }, /got -1/],
    [{ instanceId: 'a', heartbeatTimeoutSeconds: Number.NaN }, /got NaN/],
    [{ instanceId: 'a', heartbeatTimeoutSeconds: '15' }, /got "15"/],
    [
      { instanceId: 'a', heartbeatTimeoutSeconds: 60, peerRetentionSeconds: 30 },
      /heartbeatTimeoutSeconds must be at most peerRetentionSeconds, which is 30, got 60/,
    ],
    [{ instanceId: 'a', maxDrainSeconds: -1 }, /maxDrainSeconds must be a finite number of seconds of at least 0/],
    [{ instanceId: 'a', maxPeers: 0 }, /maxPeers must be a whole number of at least 1, got 0/],
    [{ instanceId: 'a', incarnation: '' }, /incarnation must be non-empty/],
    [
      { instanceId: 'a', leaderElector: { identity: 'a' } },
      /leaderElector must be a LeaderElector; it lacks isLeader, currentLeader, tryAcquire/,
    ],
  ])('are refused with the rule in the message: %o', (options, message) => {
    const construct = () => new WorkRedistributionCoordinator(options as never)
    expect(construct).toThrow(message)
    expect(construct).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(construct).toThrow(CoordinationError)
  })
})

describe('createHeartbeat', () => {
  it('stamps with the wall clock and repeats what the elector says', () => {
    const clock = new ManualClock()
    clock.seconds = 5
    let isLeader = true
    const leaderElector = Object.defineProperty(elector(), 'isLeader', { get: () => isLeader })
    const coordinator = new WorkRedistributionCoordinator({ instanceId: 'me', clock, leaderElector })
    expect(coordinator.createHeartbeat({ subscriptions: ['s'], inFlightCount: 2, loadFactor: 0.5 }).toDict()).toEqual({
      instance_id: 'me',
      timestamp: '2026-03-01T12:00:05.000+00:00',
      subscriptions: ['s'],
      in_flight_count: 2,
      is_leader: true,
      load_factor: 0.5,
    })
    isLeader = false
    expect(coordinator.createHeartbeat({ subscriptions: [] }).isLeader).toBe(false)
    expect(new WorkRedistributionCoordinator({ instanceId: 'me' }).createHeartbeat({ subscriptions: [] }).isLeader).toBe(false)
  })

  it('numbers the messages of an incarnation in one sequence, and sends neither without one', () => {
    const { coordinator } = new Observer({ incarnation: 'i' })
    const first = coordinator.createHeartbeat({ subscriptions: [] })
    const second = coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: [] })
    const third = coordinator.createHeartbeat({ subscriptions: [] })
    expect([first, second, third].map(({ incarnation, sequence }) => [incarnation, sequence])).toEqual([
      ['i', 1],
      ['i', 2],
      ['i', 3],
    ])
    expect(new Observer().coordinator.createHeartbeat({ subscriptions: [] }).toDict()).not.toHaveProperty('sequence')
  })

  it.each([
    ['loadFactor', Number.NaN, 0],
    ['loadFactor', Number.POSITIVE_INFINITY, 1],
    ['loadFactor', Number.NEGATIVE_INFINITY, 0],
    ['loadFactor', -1, 0],
    ['loadFactor', 1.5, 1],
    ['loadFactor', 'high', 0],
    ['loadFactor', null, 0],
    ['inFlightCount', Number.NaN, 0],
    ['inFlightCount', -3, 0],
    ['inFlightCount', 2.7, 2],
    ['inFlightCount', Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
  ])('puts a bad sample right and says so once: %s %s (M5)', (name, value, sent) => {
    const { coordinator, logger } = new Observer()
    for (let second = 0; second < 60; second++) {
      expect(coordinator.createHeartbeat({ subscriptions: [], [name]: value })).toHaveProperty(name, sent)
    }
    expect(logger.messages('warn')).toHaveLength(1)
    expect(logger.messages('warn')[0]).toContain(name)
  })

  it('refuses subscriptions that others would refuse', () => {
    expect(() => new Observer().coordinator.createHeartbeat({ subscriptions: [''] })).toThrow(InvalidMessageError)
  })
})

describe('createShutdownNotification', () => {
  it('announces the end of the drain and marks the instance as shutting down', () => {
    const { coordinator } = new Observer()
    expect(coordinator.isShuttingDown).toBe(false)
    expect(coordinator.shutdownNotification).toBeNull()
    const notification = coordinator.createShutdownNotification({
      intent: ShutdownIntent.Preemption,
      subscriptions: ['s'],
      inFlightCount: 1.5,
      drainTimeoutSeconds: 10,
      metadata: { spot: true },
    })
    expect(notification.toDict()).toEqual({
      instance_id: 'me',
      intent: 'preemption',
      initiated_at: '2026-03-01T12:00:00.000+00:00',
      expected_completion_at: '2026-03-01T12:00:10.000+00:00',
      subscriptions: ['s'],
      in_flight_count: 1,
      metadata: { spot: true },
    })
    expect(coordinator.isShuttingDown).toBe(true)
    expect(coordinator.shutdownNotification).toBe(notification)
  })

  it('has the defaults of the reference', () => {
    const notification = new Observer().coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: [] })
    expect(notification).toMatchObject({ inFlightCount: 0, expectedCompletionAt: at(30), metadata: {} })
  })

  it('refuses a drain that is no duration, and is not shutting down then', () => {
    const { coordinator } = new Observer()
    for (const drainTimeoutSeconds of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const create = () =>
        coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: [], drainTimeoutSeconds })
      expect(create).toThrow(/drainTimeoutSeconds must be/)
    }
    expect(coordinator.isShuttingDown).toBe(false)
  })
})

describe('handlers', () => {
  it('ignore own messages', async () => {
    const observer = new Observer()
    expect(await observer.beat(0, 'me', ['s'])).toBe(false)
    expect(await observer.goodbye(0, 'me', ['s'])).toBe(false)
    expect(observer.coordinator.knownPeers.size).toBe(0)
  })

  it('await the callbacks one at a time in registration order, and go on after one that fails', async () => {
    const observer = new Observer()
    const seen: string[] = []
    observer.coordinator.onHeartbeat(async ({ instanceId }) => {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`first ${instanceId} ${observer.status('b')}`)
    })
    observer.coordinator.onHeartbeat(() => {
      throw new Error('mine')
    })
    observer.coordinator.onHeartbeat(() => Promise.reject(new Error('mine too')))
    observer.coordinator.onHeartbeat(() => {
      seen.push('last')
    })
    expect(await observer.beat(0, 'b')).toBe(true)
    expect(seen).toEqual(['first b healthy', 'last'])
    expect(observer.logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields.peerId)).toEqual(['b', 'b'])
  })

  it('may be called from inside a callback', async () => {
    const observer = new Observer()
    observer.coordinator.onHeartbeat(async ({ instanceId }) => {
      if (instanceId === 'b') await observer.beat(0, 'c')
      await observer.coordinator.checkPeerTimeouts()
    })
    expect(await observer.beat(0, 'b')).toBe(true)
    expect(observer.coordinator.healthyPeerCount).toBe(2)
  })

  it('tell each kind of message to its own callbacks until they are removed', async () => {
    const observer = new Observer()
    const seen: string[] = []
    const callbacks = {
      Heartbeat: () => void seen.push('heartbeat'),
      PeerShutdown: () => void seen.push('shutdown'),
      PeerTimeout: () => void seen.push('timeout'),
      WorkAssignment: () => void seen.push('assignment'),
      PeerStatusChange: () => void seen.push('status'),
    }
    const { coordinator } = observer
    for (const [name, callback] of Object.entries(callbacks)) coordinator[`on${name as keyof typeof callbacks}`](callback)
    await observer.beat(0, 'b')
    await observer.check(16)
    await observer.goodbye(16, 'b')
    await coordinator.handleWorkAssignment(assign('me'))
    expect(seen).toEqual(['status', 'heartbeat', 'timeout', 'status', 'status', 'shutdown', 'assignment'])

    seen.length = 0
    for (const [name, callback] of Object.entries(callbacks)) {
      expect(coordinator[`remove${name as keyof typeof callbacks}Callback`](callback)).toBe(true)
      expect(coordinator[`remove${name as keyof typeof callbacks}Callback`](callback)).toBe(false)
    }
    await observer.beat(20, 'c')
    await observer.check(40)
    await observer.goodbye(40, 'c')
    await coordinator.handleWorkAssignment(assign('me'))
    expect(seen).toEqual([])
  })

  it('treat ids such as __proto__ and constructor like any other (M4)', async () => {
    const observer = new Observer()
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    for (const id of ids) expect(observer.coordinator.getPeer(id)).toBeUndefined()
    for (const id of ids) expect(await observer.beat(0, id, [id])).toBe(true)
    expect([...observer.coordinator.knownPeers.keys()]).toEqual(ids)
    expect(await observer.check(20)).toEqual(ids)
    expect([...observer.coordinator.getOrphanedSubscriptions()]).toEqual(ids.map((id) => [id, [id]]))
    for (const id of ids) expect(observer.coordinator.removePeer(id)).toBe(true)
    expect(observer.coordinator.removePeer('constructor')).toBe(false)
    expect(observer.coordinator.knownPeers.size).toBe(0)
  })
})

describe('handleWorkAssignment', () => {
  it('accepts what is for this instance, a repeat included, and nothing else', async () => {
    const { coordinator } = new Observer()
    const seen: WorkAssignment[] = []
    coordinator.onWorkAssignment((assignment) => void seen.push(assignment))
    const mine = assign('me', { epoch: 5n, revision: 1 })
    expect(await coordinator.handleWorkAssignment(assign('other'))).toBe(false)
    expect(await coordinator.handleWorkAssignment(mine)).toBe(true)
    expect(await coordinator.handleWorkAssignment(mine)).toBe(true)
    expect(seen).toEqual([mine, mine])
  })

  it('refuses an epoch below the highest seen, wherever that was seen', async () => {
    const { coordinator } = new Observer()
    expect(coordinator.highestEpoch).toBeNull()
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 5n }))).toBe(true)
    expect(await coordinator.handleWorkAssignment(assign('other', { epoch: 7n }))).toBe(false)
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 6n }))).toBe(false)
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 7n }))).toBe(true)
    expect(coordinator.highestEpoch).toBe(7n)
  })

  it('refuses a lower revision of the same epoch, counts revisions for each target, and starts over with a new epoch', async () => {
    const { coordinator } = new Observer()
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 5n, revision: 3 }))).toBe(true)
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 5n, revision: 2 }))).toBe(false)
    expect(await coordinator.handleWorkAssignment(assign('other', { epoch: 5n, revision: 9 }))).toBe(false)
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 5n, revision: 4 }))).toBe(true)
    expect(await coordinator.handleWorkAssignment(assign('me', { epoch: 6n, revision: 0 }))).toBe(true)
  })

  it('accepts one without epoch at any time, as the reference does', async () => {
    const { coordinator } = new Observer()
    await coordinator.handleWorkAssignment(assign('me', { epoch: 5n }))
    expect(await coordinator.handleWorkAssignment(assign('me'))).toBe(true)
  })
})

describe('initiateLeadershipHandoff', () => {
  it('releases only what is held', async () => {
    let releases = 0
    const release = async (): Promise<void> => void releases++
    const make = (leaderElector?: LeaderElector) => new WorkRedistributionCoordinator({ instanceId: 'me', leaderElector })
    expect(await make().initiateLeadershipHandoff()).toBe(false)
    expect(await make(elector({ isLeader: false, release })).initiateLeadershipHandoff()).toBe(false)
    expect(releases).toBe(0)
    expect(await make(elector({ release })).initiateLeadershipHandoff()).toBe(true)
    expect(releases).toBe(1)
  })

  it('lets the elector say that its backend could not be told', async () => {
    const leaderElector = elector({ release: () => Promise.reject(new ConnectionError('unreachable', 'gone')) })
    await expect(new WorkRedistributionCoordinator({ instanceId: 'me', leaderElector }).initiateLeadershipHandoff()).rejects.toThrow(
      ConnectionError,
    )
  })
})

describe('a logger that throws', () => {
  it('stops nothing', async () => {
    const shown: unknown[] = []
    const { error } = console
    console.error = (...values) => shown.push(values)
    try {
      const clock = new ManualClock()
      const logger = new RecordingLogger()
      logger.warn = logger.info = () => {
        throw new Error('logger')
      }
      const coordinator = new WorkRedistributionCoordinator({ instanceId: 'me', clock, logger })
      const observer = new Observer()
      await coordinator.handleHeartbeat(observer.coordinator.createHeartbeat({ subscriptions: [] }))
      coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: [] })
      expect(coordinator.createHeartbeat({ subscriptions: [], loadFactor: Number.NaN }).loadFactor).toBe(0)
    } finally {
      console.error = error
    }
    expect(shown.length).toBeGreaterThan(0)
  })
})
