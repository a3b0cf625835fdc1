import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const pinned = manifest.packageManager.split('+')[0]

/** Whether this Node is one that the project supports; says so if not. */
export function isNodeSupported() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [wantedMajor, wantedMinor] = manifest.engines.node.replace('>=', '').split('.').map(Number)
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return true
  console.error(`This project needs Node ${manifest.engines.node}, and this is Node ${process.versions.node} (${process.execPath}).`)
  return false
}

/** Command and first arguments of exactly the pnpm that package.json pins: the one on the PATH if it is that, else through npx. */
export function pinnedPnpm() {
  // Asked in another folder, because pnpm and corepack change their version to the one that the project wants.
  const { stdout } = spawnSync('pnpm', ['--version'], {
    cwd: tmpdir(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 10_000,
    env: { ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' },
  })
  return stdout?.trim() === pinned.replace('pnpm@', '') ? ['pnpm'] : ['npx', '--yes', pinned]
}
