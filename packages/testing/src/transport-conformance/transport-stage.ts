import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { errorMessage, type Transport, type TransportHandler, type Unsubscribe } from '@es/coordination-core'
import { ConformanceStage } from '../conformance/conformance-stage.js'
import type { TransportMedium, TransportPowers } from './transport-world.js'

/** What a handler was given. */
export interface Inbox {
  /** In the order of arrival; grows. */
  readonly messages: readonly unknown[]
  readonly unsubscribe: Unsubscribe
}

/** What a case works with: the three transports of a medium of its own. */
export class TransportStage extends ConformanceStage<TransportMedium, TransportPowers> {
  get first(): Transport {
    return this.setup.transports[0]
  }

  get second(): Transport {
    return this.setup.transports[1]
  }

  get third(): Transport {
    return this.setup.transports[2]
  }

  get transports(): readonly [Transport, Transport, Transport] {
    return this.setup.transports
  }

  /** Which of the three it is, for messages. */
  nameOf(transport: Transport): string {
    return `transport ${this.transports.indexOf(transport) + 1}`
  }

  publish(transport: Transport, topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#call(`publish() of ${this.nameOf(transport)}`, () => transport.publish(topic, message))
  }

  subscribe(transport: Transport, topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    return this.#call(`subscribe() of ${this.nameOf(transport)}`, () => transport.subscribe(topic, handler))
  }

  /** Subscribes with a handler that keeps what it is given. */
  async hear(transport: Transport, topic: string): Promise<Inbox> {
    const messages: unknown[] = []
    const unsubscribe = await this.subscribe(transport, topic, (message) => void messages.push(message))
    return { messages, unsubscribe }
  }

  /** Waits until `inbox` has a message that says `text`, see {@link saying}. */
  async heard(text: string, ...inboxes: readonly Inbox[]): Promise<void> {
    for (const [index, { messages }] of inboxes.entries())
      await this.eventually(`"${text}" to reach subscriber ${index + 1} of ${inboxes.length}`, () =>
        messages.some((message) => textOf(message) === text),
      )
    // A handler that is wrongly called is called in the same breath as the others.
    for (let turns = 0; turns < 3; turns++) await turn()
  }

  /** Waits until the logger was told of `error`. */
  async logged(error: Error): Promise<void> {
    await this.eventually('the logger to get a warning or an error with the field error', () =>
      this.log.some((fields) => fields.error === error),
    )
  }

  get loopback(): boolean {
    return this.power('loopback')
  }

  get carriesBytes(): number {
    return this.power('carriesBytes')
  }

  get refusesBytes(): number {
    return this.power('refusesBytes')
  }

  disconnect(transport: Transport): Promise<() => Promise<void>> {
    return this.breakUntilMended('disconnect() of the world', this.power('disconnect')(this.setup, transport))
  }

  garbage(topic: string): Promise<void> {
    return this.soon('garbage() of the world', this.power('garbage')(this.setup, topic))
  }

  closeTransport(transport: Transport): Promise<void> {
    return this.soon('close() of a transport', this.power('close')(this.setup, transport))
  }

  /** Fails when `call` throws instead of rejecting. */
  #call<T>(what: string, call: () => Promise<T>): Promise<T> {
    let answer: Promise<T>
    try {
      answer = call()
    } catch (error) {
      assert.fail(`${what} must reject instead of throwing, but it threw: ${errorMessage(error)}`)
    }
    return this.soon(what, answer)
  }
}

/** A message to be recognized by its text. */
export function saying(text: string): { readonly text: string } {
  return { text }
}

/** What a message says, or what it is when it does not say anything. */
export function textOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'text' in message ? message.text : message
}
