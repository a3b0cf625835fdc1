/** The major version that the workspace itself carries; the others are those of `servers/package.json`. */
const BUNDLED = 18
const OLDER = [13, 14, 15, 16, 17]

export const USAGE = `Usage: test:matrix [VERSION...], each one of ${[...OLDER, BUNDLED].join(', ')}; without any, all of them. The first is too old, and must be refused`

/** The first major version that has `idle_session_timeout`, and so the first that is supported. */
const FIRST_SUPPORTED = 14

/** One server of the matrix. */
export interface MatrixVersion {
  readonly major: number
  /** Whether it must pass the tests; one that is too old must be refused. */
  readonly isSupported: boolean
  /** The package that carries it, `null` for the one of the workspace. */
  readonly alias: string | null
}

/** All versions, or those that `names` asks for, oldest first. @throws Error that says which there are. */
export function matrixVersions(names: readonly string[], platform: string): readonly MatrixVersion[] {
  const known = [...OLDER, BUNDLED]
  const unknown = names.filter((name) => !known.map(String).includes(name))
  if (unknown.length > 0) {
    throw new Error(`Not in the matrix: ${unknown.join(', ')}. ${USAGE}`)
  }
  return known
    .filter((major) => names.length === 0 || names.includes(String(major)))
    .map((major) => ({
      major,
      isSupported: major >= FIRST_SUPPORTED,
      alias: major === BUNDLED ? null : `postgres-${major}-${platform}`,
    }))
}
