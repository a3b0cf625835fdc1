import { callSafely, type Logger, type Unsubscribe } from '@es/coordination-core'

interface Registration<Event> {
  readonly listener: (event: Event) => unknown
  isRemoved: boolean
}

/**
 * Tells listeners what has happened: in the order in which it happened, and never inside the step that it happened in, so that a listener may
 * call anything, stopping the worker included. What a listener throws, or rejects with, is logged; nobody waits for one.
 */
export class EventStream<Event extends { readonly type: string }> {
  readonly #logger: Logger
  readonly #instanceId: string
  readonly #untold: { readonly event: Event; readonly recipients: readonly Registration<Event>[] }[] = []
  #registrations: readonly Registration<Event>[] = []

  /** @param logger must not throw. */
  constructor(logger: Logger, instanceId: string) {
    this.#logger = logger
    this.#instanceId = instanceId
  }

  /** Calls `listener` for every event from now on. */
  listen(listener: (event: Event) => unknown): Unsubscribe {
    const registration = { listener, isRemoved: false }
    this.#registrations = [...this.#registrations, registration]
    return () => {
      registration.isRemoved = true
      this.#registrations = this.#registrations.filter((other) => other !== registration)
    }
  }

  emit(event: Event): void {
    if (this.#registrations.length === 0) return
    this.#untold.push({ event, recipients: this.#registrations })
    if (this.#untold.length === 1) queueMicrotask(() => this.#tell())
  }

  #tell(): void {
    for (const { event, recipients } of this.#untold) {
      for (const recipient of recipients) if (!recipient.isRemoved) this.#call(recipient, event)
    }
    this.#untold.length = 0
  }

  #call({ listener }: Registration<Event>, event: Event): void {
    callSafely(
      () => listener(event),
      (error) =>
        this.#logger.error(
          { instanceId: this.#instanceId, event: event.type, error },
          'An event listener failed; the others are still told',
        ),
    )
  }
}
