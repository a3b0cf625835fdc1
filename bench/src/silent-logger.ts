import type { Logger } from '@es/coordination-core'

/** For benchmarks that break connections on purpose: what they find is in the table. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
