/** What a worker process is told. */
export type WorkerCommand =
  | {
      readonly type: 'start'
      readonly instanceId: string
      readonly connection: string
      readonly subscriptions: readonly string[]
    }
  /** As the leader, gives everything to this instance from now on. */
  | { readonly type: 'direct'; readonly to: string }
  | { readonly type: 'tell usage' }

/** What a worker process tells. Times are on the clock that all processes of the machine share. */
export type WorkerProcessReport =
  | { readonly type: 'run started'; readonly subscription: string; readonly at: number }
  | { readonly type: 'run ended'; readonly subscription: string; readonly at: number }
  | { readonly type: 'leadership'; readonly isLeader: boolean }
  | UsageReport

/** What a process has used up since it began. */
export interface UsageReport {
  readonly type: 'usage'
  readonly at: number
  readonly cpuSeconds: number
  readonly statements: number
}
