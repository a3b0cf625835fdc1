/** What is connected to a {@link FakeMedium}. */
export interface Receiver {
  receive(from: object, topic: string, carried: unknown): void
}

/** Carries anything, by reference, to all that joined: in order, one turn of the event loop later. */
export class FakeMedium {
  readonly receivers: Receiver[] = []

  join(receiver: Receiver): void {
    this.receivers.push(receiver)
  }

  send(from: object, topic: string, carried: unknown): void {
    setImmediate(() => {
      for (const receiver of this.receivers) receiver.receive(from, topic, carried)
    })
  }
}
