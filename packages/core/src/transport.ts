/** Receives one message: the JSON object that was published, or whatever else somebody put on the topic. */
export type TransportHandler = (message: unknown) => void

/** Ends a subscription or registration; harmless the second time. */
export type Unsubscribe = () => void

/**
 * Broadcast of small JSON messages to every instance of a cluster, the sender included or not.
 *
 * It may lose, repeat and reorder messages, and whoever uses it must cope. It never throws into or out of a handler, and never waits for one:
 * a handler that throws is logged.
 */
export interface Transport {
  /**
   * Sends `message` to everybody who subscribes to `topic` at about this time. Resolves when it was handed over, which does not mean that it arrived.
   *
   * @throws ConnectionError when it could not be handed over.
   * @throws CoordinationError `message_too_large` when no size of frame would carry it.
   */
  publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void>
  /**
   * Calls `handler` for each message on `topic`. Resolves when messages published from now on arrive.
   *
   * @throws ConnectionError when the backend cannot be reached now. A subscription once made is renewed after every loss of connection.
   */
  subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe>
  /**
   * Calls `callback` whenever messages may have been missed: after a reconnection. Nothing is replayed, so whoever needs the
   * present state must ask for it or wait for the next heartbeats.
   */
  onResync(callback: () => void): Unsubscribe
}
