// `npm test`, `npm run demo` and the other commands that run something: from a fresh clone to the result with nothing but Node and npm.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isNodeSupported, pinnedPnpm } from './pinned-pnpm.mjs'

const COMMANDS = {
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  demo: ['examples/dist/demo/main.js'],
  soak: ['tools/simulation/dist/main.js'],
  'test:matrix': ['tools/server-matrix/dist/main.js'],
  chaos: ['tools/chaos/dist/main.js'],
  bench: ['bench/dist/main.js'],
}

const root = fileURLToPath(new URL('..', import.meta.url))
const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }

/** Runs a program to its end, passing signals on; resolves to how it ended. */
function run(command, ...args) {
  const child = spawn(command, args, { cwd: root, env, stdio: 'inherit' })
  const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const listener = () => {
      // A terminal sends Ctrl-C to the child as well, which should not get it twice.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  return new Promise((resolve) => {
    const end = (status, signal) => {
      for (const remove of listeners) remove()
      resolve({ status, signal })
    }
    child.once('exit', end)
    child.once('error', (error) => {
      console.error(`Cannot run ${command}: ${error.message}`)
      end(127, null)
    })
  })
}

function endLike({ status, signal }) {
  if (signal) process.kill(process.pid, signal)
  else process.exitCode = status
}

async function main(name, args) {
  const command = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined
  if (!command) {
    console.error(`Usage: node scripts/run.mjs ${Object.keys(COMMANDS).join('|')} [arguments]`)
    return { status: 2 }
  }
  if (!isNodeSupported()) return { status: 1 }

  const pnpm = pinnedPnpm()
  const installed = await run(...pnpm, 'install', '--frozen-lockfile', '--config.confirmModulesPurge=false')
  if (installed.status !== 0) {
    console.error(`\nThe installation failed. If pnpm-lock.yaml is out of date, run "${pnpm.join(' ')} install" and commit the result.`)
    return installed
  }
  const built = await run(...pnpm, 'run', 'build')
  if (built.status !== 0) return built
  return run(process.execPath, ...command, ...args)
}

endLike(await main(process.argv[2], process.argv.slice(3)))
