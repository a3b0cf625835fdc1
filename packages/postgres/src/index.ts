// Leader election
export type { ElectionOptions, PostgresLeaderElectorOptions } from './elector-options.js'
export { PostgresLeaderElector } from './postgres-leader-elector.js'
export { PostgresLockSession, type PostgresLockSessionOptions } from './postgres-lock-session.js'
export type { Pooler, PostgresConnection } from './session-settings.js'

// Ownership of subscriptions
export { PostgresOwnership } from './postgres-ownership.js'
export type { ClaimOptions, PostgresOwnershipOptions } from './postgres-ownership-options.js'

// Transport
export { PostgresTransport } from './postgres-transport.js'
export type { PostgresTransportOptions } from './postgres-transport-options.js'
export type { TransportCounts } from './transport-dispatch.js'
export { deriveChannel } from './transport-channel.js'

// All three on two connections
export { PostgresCoordination, type PostgresCoordinationOptions } from './postgres-coordination.js'

// Lock keys, for whoever looks into pg_locks
export { deriveLockKey, type LockKey } from './lock-key.js'

// Guarded writes
export { type Queryable, verifyStoredToken } from './stored-token.js'
