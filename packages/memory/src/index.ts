// Leader election
export { InMemoryLeaderElector, type InMemoryLeaderElectorOptions } from './in-memory-leader-elector.js'
export { type Candidate, SharedLeaderState } from './shared-leader-state.js'

// Transport
export { InMemoryTransport, type InMemoryTransportOptions } from './in-memory-transport.js'
export { type BusFaults, type Delivery, SharedBus } from './shared-bus.js'

// Ownership
export { InMemoryOwnership, type InMemoryOwnershipOptions } from './in-memory-ownership.js'
export { SharedClaims } from './shared-claims.js'
