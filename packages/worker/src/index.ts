// The worker
export { CoordinatedWorker, type StopOptions, type StopResult } from './coordinated-worker.js'
export type { CoordinatedWorkerOptions, LeaderWork, Run, RunContext } from './worker-options.js'
export type { StopCause, WorkerEvent } from './worker-event.js'
export { workerEventToDict } from './worker-event-dict.js'
export type { PeerSummary, PlanSummary, Problem, ProblemCode, WorkerHealth, WorkerStatus, WorkPhase, WorkStatus } from './worker-status.js'

// Singleton work
export { type RunAsLeaderOptions, runAsLeader } from './run-as-leader.js'
