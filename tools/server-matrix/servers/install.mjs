// Fetches the servers that package.json names, exactly as locked. Not in the workspace, so that the usual installation does not.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pinnedPnpm } from '../../../scripts/pinned-pnpm.mjs'

const [command, ...args] = [...pinnedPnpm(), 'install', '--ignore-workspace', '--frozen-lockfile', '--config.confirmModulesPurge=false']
const { status, error } = spawnSync(command, args, { cwd: fileURLToPath(new URL('.', import.meta.url)), stdio: 'inherit' })
if (error) process.stderr.write(`Cannot run ${command}: ${error.message}\n`)
process.exitCode = status ?? 1
