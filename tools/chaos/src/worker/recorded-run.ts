import type { CoordinationError } from '@es/coordination-core'
import type { RunEnding } from '@es/coordination-testing'
import type { Run, RunContext } from '@es/coordination-worker'
import type { HistoryFile } from '../history-file.js'

/** Records the first and the last line of every run. */
export class RunRecorder {
  readonly #instanceId: string
  readonly #file: HistoryFile
  /** The run of each subscription that counts: one that was given up does not any more. */
  readonly #running = new Map<string, bigint | null>()

  constructor(instanceId: string, file: HistoryFile) {
    this.#instanceId = instanceId
    this.#file = file
  }

  recorded(run: Run): Run {
    return async (subscription, context) => {
      const { fencingToken: token } = context
      this.#running.set(subscription, token)
      this.#file.record({ type: 'run_started', instanceId: this.#instanceId, subscription, token })
      try {
        await run(subscription, context)
      } finally {
        this.#end(subscription, token, causeOf(context))
      }
    }
  }

  /** The worker waits no longer for the run of `subscription`. */
  abandoned(subscription: string, token: bigint | null): void {
    this.#end(subscription, token, 'abandoned')
  }

  #end(subscription: string, token: bigint | null, cause: RunEnding): void {
    if (this.#running.get(subscription) !== token) return
    this.#running.delete(subscription)
    const known = token === null ? {} : { token }
    this.#file.record({ type: 'run_stopped', instanceId: this.#instanceId, subscription, ...known, cause })
  }
}

const CAUSES: Readonly<Record<string, RunEnding>> = { run_revoked: 'revoked', run_stopping: 'stopping', run_lost: 'lost' }

/** What the run had been told; `failed` when nothing. */
function causeOf({ signal, lost }: RunContext): RunEnding {
  if (lost.aborted) return 'lost'
  return CAUSES[(signal.reason as CoordinationError | undefined)?.code ?? ''] ?? 'failed'
}
