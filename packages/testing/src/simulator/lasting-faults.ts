import type { CancelTimer, Clock } from '@es/coordination-core'
import type { Chronicle } from './life-record.js'

interface LastingFault {
  end(): void
}

/** Faults that began and have not ended; writes down both. */
export class LastingFaults {
  readonly #clock: Clock
  readonly #chronicle: Chronicle
  readonly #faults = new Set<LastingFault>()
  #count = 0

  constructor(clock: Clock, chronicle: Chronicle) {
    this.#clock = clock
    this.#chronicle = chronicle
  }

  /** Begins a fault that ends after `forSeconds`, or with {@link endAll}. `undo` makes it undone. */
  begin(fault: {
    readonly kind: string
    readonly instanceId: string | null
    readonly forSeconds: number | undefined
    readonly undo: () => void
  }): void {
    const { instanceId, forSeconds, undo } = fault
    const kind = `${fault.kind} ${++this.#count}`
    const details = { kind, ...(instanceId === null ? {} : { instanceId }) }
    let cancel: CancelTimer = () => {}
    const lasting: LastingFault = {
      end: () => {
        if (!this.#faults.delete(lasting)) return
        cancel()
        this.#record({ type: 'fault_ended', ...details })
        this.#chronicle.transcript.step(instanceId ?? '', `${fault.kind} is over`)
        undo()
      },
    }
    this.#faults.add(lasting)
    this.#record({ type: 'fault_began', ...details })
    if (forSeconds !== undefined) cancel = this.#clock.setTimer(forSeconds, lasting.end)
  }

  endAll(): void {
    for (const fault of [...this.#faults]) fault.end()
  }

  #record(event: { readonly type: 'fault_began' | 'fault_ended'; readonly kind: string; readonly instanceId?: string }): void {
    if (this.#chronicle.isKept) this.#chronicle.history.push({ ...event, at: this.#chronicle.now() })
  }
}
