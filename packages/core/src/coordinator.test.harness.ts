import type { WorkRedistributionCoordinatorOptions } from './coordinator-options.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { at, ManualClock, RecordingLogger } from './manual-clock.test.harness.js'
import type { PeerStatusChange } from './peer-info.js'
import { ShutdownIntent } from './shutdown-intent.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { WorkRedistributionCoordinator } from './work-redistribution-coordinator.js'

/** What a test says about a message; the stamp is the arrival unless it says otherwise. */
interface Sent {
  readonly stamp?: number
  readonly incarnation?: string
  readonly sequence?: number
  readonly declined?: readonly string[]
  readonly capacity?: number
}

/** A coordinator under test, the instance `me`, and what it reports. Times are seconds on its clock. */
export class Observer {
  readonly clock = new ManualClock()
  readonly logger = new RecordingLogger()
  readonly coordinator: WorkRedistributionCoordinator
  readonly timeouts: string[] = []
  readonly changes: PeerStatusChange[] = []

  constructor(options: Partial<WorkRedistributionCoordinatorOptions> = {}) {
    this.coordinator = new WorkRedistributionCoordinator({ instanceId: 'me', clock: this.clock, logger: this.logger, ...options })
    this.coordinator.onPeerTimeout((instanceId) => {
      this.timeouts.push(instanceId)
    })
    this.coordinator.onPeerStatusChange((change) => {
      this.changes.push(change)
    })
  }

  /** A heartbeat of `instanceId` arrives at `seconds`. */
  beat(seconds: number, instanceId: string, subscriptions: readonly string[] = [], sent: Sent = {}): Promise<boolean> {
    this.clock.seconds = seconds
    const { stamp = seconds, ...rest } = sent
    return this.coordinator.handleHeartbeat(new HeartbeatMessage({ instanceId, timestamp: at(stamp), subscriptions, ...rest }))
  }

  /** A goodbye of `instanceId` arrives at `seconds`. */
  goodbye(
    seconds: number,
    instanceId: string,
    subscriptions: readonly string[] = [],
    { drain = 30, stamp = seconds, incarnation, sequence }: Sent & { readonly drain?: number } = {},
  ): Promise<boolean> {
    this.clock.seconds = seconds
    return this.coordinator.handlePeerShutdown(
      new ShutdownNotification({
        instanceId,
        intent: ShutdownIntent.Graceful,
        initiatedAt: at(stamp),
        expectedCompletionAt: at(stamp + drain),
        subscriptions,
        incarnation,
        sequence,
      }),
    )
  }

  check(seconds: number): Promise<string[]> {
    this.clock.seconds = seconds
    return this.coordinator.checkPeerTimeouts()
  }

  status(instanceId: string, seconds = this.clock.seconds): string {
    this.clock.seconds = seconds
    return this.coordinator.getPeer(instanceId)?.status ?? 'unknown'
  }

  orphans(seconds = this.clock.seconds): Record<string, readonly string[]> {
    this.clock.seconds = seconds
    return Object.fromEntries(this.coordinator.getOrphanedSubscriptions())
  }

  /** The changes so far, such as `b: healthy > stale`. */
  story(): string[] {
    return this.changes.map(
      ({ instanceId, previous, status, restarted }) => `${instanceId}: ${previous} > ${status}${restarted ? ' (restarted)' : ''}`,
    )
  }
}
