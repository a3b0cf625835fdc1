// A server
export { type PostgresSettings, startTestServer, type StopMode, type TestServer, type TestServerOptions } from './test-server.js'
export { sharedServer } from './shared-server.js'

// A database on a server
export { createDatabase, type TestDatabase } from './test-database.js'

// A port for something else
export { freePort } from './free-port.js'
