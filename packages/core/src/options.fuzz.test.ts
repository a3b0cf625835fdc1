import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssignmentPlannerInput } from './assignment-planner.js'
import { stickyPlanner } from './assignment-planner-sticky.js'
import type { WorkRedistributionCoordinatorOptions } from './coordinator-options.js'
import { MessageDecoder } from './decoder.js'
import { CoordinationError, InvalidMessageError } from './errors.js'
import { anyOption, fuzzing, prototypes } from './fuzz.test.harness.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { ManualClock, RecordingLogger } from './manual-clock.test.harness.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { WorkAssignment } from './work-assignment.js'
import { WorkRedistributionCoordinator } from './work-redistribution-coordinator.js'

const LONGEST_ERROR = 500

/** Options of which some are fit for use, and the others may be anything. */
function nearlyOptions<T extends object>(fit: { readonly [K in keyof Required<T>]: T[K] }): fc.Arbitrary<T> {
  const keys = Object.keys(fit) as (keyof T & string)[]
  return fc
    .record({ wrong: fc.dictionary(fc.constantFrom(...keys), anyOption, { maxKeys: 3 }), missing: fc.subarray(keys, { maxLength: 2 }) })
    .map(({ wrong, missing }) => {
      const options: Record<string, unknown> = { ...fit, ...wrong }
      for (const key of missing) delete options[key]
      return options as T
    })
}

/** Calls `use`, and looks at what it throws. Returns whether it went well. */
function succeeds(use: () => unknown, ...codes: readonly string[]): boolean {
  try {
    use()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(CoordinationError)
    expect(codes).toContain((error as CoordinationError).code)
    expect((error as CoordinationError).message.length).toBeLessThan(error instanceof InvalidMessageError ? 2000 : LONGEST_ERROR)
    return false
  }
}

/** Both must happen, or the test tests nothing. */
function expectBoth(outcomes: readonly boolean[]): void {
  expect(new Set(outcomes)).toEqual(new Set([true, false]))
}

const elector = {
  ...{ identity: 'me', isLeader: false, currentLeader: null, tryAcquire: async () => false, release: async () => {} },
  ...{ renew: async () => false, onLeaderChange() {}, removeLeaderChangeCallback: () => false },
}

describe('options, whatever they are,', () => {
  it('make a coordinator that works, or one documented error, 5,000 times', async () => {
    const before = prototypes()
    const outcomes: boolean[] = []
    const options = nearlyOptions<WorkRedistributionCoordinatorOptions>({
      ...{ instanceId: 'me', leaderElector: elector, heartbeatTimeoutSeconds: 15, incarnation: 'i', onImpersonated: () => {} },
      ...{ peerRetentionSeconds: 150, maxDrainSeconds: 10, maxPeers: 3, maxPeerBytes: 2_000_000 },
      ...{ clock: new ManualClock(), logger: new RecordingLogger() },
    })
    await fc.assert(
      fc.asyncProperty(options, anyOption, async (given, bag) => {
        let coordinator: WorkRedistributionCoordinator | undefined
        outcomes.push(
          succeeds(() => {
            coordinator = new WorkRedistributionCoordinator(given)
          }, 'invalid_options'),
        )
        succeeds(() => new WorkRedistributionCoordinator(bag as never), 'invalid_options')
        succeeds(() => new MessageDecoder(bag as never), 'invalid_options')
        if (coordinator === undefined) return
        const heartbeat = coordinator.createHeartbeat({ subscriptions: ['s'] })
        expect(await coordinator.handleHeartbeat(new HeartbeatMessage({ ...heartbeat, instanceId: 'peer' }))).toBe(true)
        expect(coordinator.healthyPeerCount).toBe(1)
        expect(await coordinator.checkPeerTimeouts()).toEqual([])
      }),
      fuzzing(5000),
    )
    expectBoth(outcomes)
    expect(prototypes()).toBe(before)
  }, 180_000)

  it('make messages that can be read again, or one documented error, 5,000 times', () => {
    const outcomes: boolean[] = []
    const clock = new ManualClock()
    const coordinator = new WorkRedistributionCoordinator({ instanceId: 'me', incarnation: 'i', clock, logger: new RecordingLogger() })
    const heartbeat = nearlyOptions<Parameters<typeof coordinator.createHeartbeat>[0]>({
      ...{ subscriptions: ['s'], inFlightCount: 1, loadFactor: 0.5, declined: ['d'], capacity: 3 },
    })
    const shutdown = nearlyOptions<Parameters<typeof coordinator.createShutdownNotification>[0]>({
      ...{ intent: 'graceful', subscriptions: ['s'], inFlightCount: 1, drainTimeoutSeconds: 10, metadata: { a: [1] } },
    })
    const assignment = nearlyOptions<ConstructorParameters<typeof WorkAssignment>[0]>({
      ...{
        targetInstanceId: 'a',
        subscriptions: ['s'],
        sourceInstanceId: 'b',
        assignedAt: new Date(0),
        priority: 1,
        epoch: 5n,
        revision: 1,
      },
    })
    fc.assert(
      fc.property(heartbeat, shutdown, assignment, (beat, goodbye, work) => {
        const again = (dict: object): unknown => JSON.parse(JSON.stringify(dict))
        outcomes.push(
          succeeds(() => HeartbeatMessage.fromDict(again(coordinator.createHeartbeat(beat).toDict())), 'invalid_message'),
          succeeds(
            () => ShutdownNotification.fromDict(again(coordinator.createShutdownNotification(goodbye).toDict())),
            ...['invalid_message', 'invalid_options'],
          ),
          succeeds(() => WorkAssignment.fromDict(again(new WorkAssignment(work).toDict())), 'invalid_message'),
        )
      }),
      fuzzing(5000),
    )
    expectBoth(outcomes)
  }, 180_000)

  it('make a plan, or one documented error, 5,000 times', () => {
    const outcomes: boolean[] = []
    const input = nearlyOptions<AssignmentPlannerInput>({
      ...{ subscriptions: [{ name: 'a' }, { name: 'b', weight: 2 }], instances: [{ instanceId: 'x' }, { instanceId: 'y', capacity: 1 }] },
      ...{ current: new Map([['a', 'x']]), maxMoves: 1, pinned: new Map([['b', 'held']]), preferred: new Map([['a', 'y']]) },
    })
    const parts = fc.record({
      subscriptions: fc.array(fc.record({ name: anyOption, weight: anyOption }, { requiredKeys: ['name'] }), { maxLength: 4 }),
      instances: fc.array(fc.record({ instanceId: anyOption, capacity: anyOption }, { requiredKeys: ['instanceId'] }), { maxLength: 4 }),
      current: fc.constant(new Map()),
    })
    fc.assert(
      fc.property(fc.oneof(input, parts), (given) => {
        outcomes.push(
          succeeds(() => {
            const plan = stickyPlanner(given as AssignmentPlannerInput)
            const placed = [...plan.assignments.values()].flat().length + plan.unassigned.length
            expect(placed + plan.pinned.length).toBeGreaterThanOrEqual(given.subscriptions.length)
          }, 'invalid_options'),
        )
      }),
      fuzzing(5000),
    )
    expectBoth(outcomes)
  }, 180_000)
})
