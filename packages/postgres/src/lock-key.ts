import { createHash } from 'node:crypto'
import { CoordinationError } from '@es/coordination-core'

/** A PostgreSQL advisory-lock key: a signed 64-bit integer in decimal, as text because it exceeds JavaScript's safe integers. */
export type LockKey = string

// WIRE FORMAT. Processes of different releases meet on these keys during a rolling deploy: another derivation would let both
// lead. It changes with a major release only, by a new version here.
const VERSION = 'es-coordination/1'

/**
 * The advisory-lock key of `name` in `namespace`: the first 8 bytes, big-endian, of the SHA-256 of the UTF-8 bytes of
 * `es-coordination/1`, a zero byte, the namespace, a zero byte, the name; read as a signed integer.
 *
 * Names are compared byte by byte: "Ä" in its composed and its decomposed form are two names.
 *
 * @throws CoordinationError `invalid_options` when the namespace holds a zero byte, or either text is not well-formed Unicode
 *   (an unpaired surrogate): two such names could share a key.
 */
export function deriveLockKey(namespace: string, name: string): LockKey {
  if (namespace.includes('\0')) throw new CoordinationError('invalid_options', 'A lock namespace must not contain a zero byte')
  if (/\p{Surrogate}/u.test(`${namespace}\0${name}`)) {
    throw new CoordinationError('invalid_options', 'A lock name must be well-formed Unicode, without unpaired surrogates')
  }
  return createHash('sha256').update(`${VERSION}\0${namespace}\0${name}`, 'utf8').digest().readBigInt64BE(0).toString()
}
