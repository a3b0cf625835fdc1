import type { HonestTransport, HonestTransportOptions } from './honest-transport.fixture.js'

/** A transport that breaks the contract in one way, and the cases that must notice. */
export interface Lie {
  readonly lie: string
  /** Names of all the cases that fail, and no other, in the order of the suite. */
  readonly fails: readonly string[]
  readonly transport: new (options: HonestTransportOptions) => HonestTransport
  /** Whether the world declares that a transport hears itself. @default true */
  readonly loopback?: boolean
}
