import type { Transport } from '@es/coordination-core'
import type { Closable, ConformanceWorld } from '../conformance/conformance-world.js'

/** One medium, freshly opened for one case. A world may add whatever its powers need to get at. */
export interface TransportMedium extends Closable {
  /**
   * Three transports that hear each other, and nobody else. A transport may lose messages, but a medium that does so without a reason leaves the
   * suite nothing to wait for: switch off what makes yours lose them.
   */
  readonly transports: readonly [Transport, Transport, Transport]
}

/** What the author of a transport provides so that the suite can test it: `open` opens a new medium. */
export type TransportWorld<Medium extends TransportMedium = TransportMedium> = ConformanceWorld<Medium, TransportPowers<Medium>>

/** Optional abilities of a transport and of its world; whatever is declared is tested. */
export interface TransportPowers<Medium extends TransportMedium = TransportMedium> {
  /** Whether a transport hears what it publishes itself. */
  readonly loopback?: boolean
  /** The transports report failing handlers to the logger that `open` was given. */
  readonly logging?: true
  /** A message whose JSON text has this many bytes arrives. */
  readonly carriesBytes?: number
  /** A message whose JSON text has this many bytes is refused as too large. */
  readonly refusesBytes?: number
  /** Ends the connection of `transport` alone, and keeps it from connecting again until the returned function is called. */
  readonly disconnect?: (medium: Medium, transport: Transport) => Promise<() => Promise<void>>
  /** Puts on the medium, where subscribers of `topic` find it, what no transport would publish. */
  readonly garbage?: (medium: Medium, topic: string) => Promise<void>
  /** Ends one transport for good, by a method that the contract does not have. */
  readonly close?: (medium: Medium, transport: Transport) => Promise<void>
}

/** Name of an optional ability. */
export type TransportPower = keyof TransportPowers
