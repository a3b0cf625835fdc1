// `pnpm check`: every static check. Runs all of them, sums up, and fails when one failed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNodeSupported, pinnedPnpm } from './pinned-pnpm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error) console.error(`Cannot run ${command}: ${error.message}`)
  return status === 0
}

/** Like `run`, but shows what the program printed only when it failed. */
function runQuietly(command, ...args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  if (status !== 0) console.error(error?.message ?? stdout + stderr)
  return status === 0
}

const tool = (name, ...args) => run(join(root, 'node_modules', '.bin', name), ...args)

/** Packs every published package as `pnpm publish` would, and looks at the result with publint and are-the-types-wrong. */
function checkPublished(pnpm) {
  let isFine = true
  for (const folder of readdirSync(join(root, 'packages'))) {
    const { name, private: isPrivate } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    if (isPrivate) continue
    console.log(`\n${name}`)
    const target = mkdtempSync(join(tmpdir(), 'packed-'))
    try {
      const isPacked = runQuietly(...pnpm, '--dir', join('packages', folder), 'pack', '--pack-destination', target)
      const [archive] = readdirSync(target)
      const isGood =
        isPacked &&
        [
          tool('publint', 'run', '--strict', join(target, archive)),
          tool('attw', '--profile', 'esm-only', '--no-definitely-typed', join(target, archive)),
        ].every(Boolean)
      isFine &&= isGood
    } finally {
      rmSync(target, { recursive: true, force: true })
    }
  }
  return isFine
}

function main() {
  if (!isNodeSupported()) return false
  const pnpm = pinnedPnpm()
  const steps = {
    'format, imports and lint (biome)': () => tool('biome', 'check', '--error-on-warnings', '.'),
    'build (turbo)': () => run(...pnpm, 'run', 'build'),
    'types, tests included (tsc)': () => tool('tsc', '--project', 'tsconfig.tests.json'),
    'published packages (publint, attw)': () => checkPublished(pnpm),
    'unused files, exports and dependencies (knip)': () => tool('knip'),
  }
  const results = Object.entries(steps).map(([name, step]) => {
    console.log(`\n=== ${name}`)
    return { name, isFine: step() }
  })
  console.log('')
  for (const { name, isFine } of results) console.log(`${isFine ? 'ok    ' : 'FAILED'} ${name}`)
  return results.every(({ isFine }) => isFine)
}

process.exitCode = main() ? 0 : 1
