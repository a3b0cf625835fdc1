import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

// Like the keeper of the test server: the shell outlives this process, and when its input ends, which happens however this process ends, it stops the server.
const KEEPER = 'folder=$1; shift; "$@" >/dev/null 2>&1 & read -r _; kill $!; wait; rm -rf -- "$folder"'

/** A Redis on 127.0.0.1 that keeps nothing on disk. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string
}

/** Starts the `redis-server` on the PATH; `null` when there is none. */
export async function startRedis(): Promise<RedisServer | null> {
  if (spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).error) return null
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'bench-redis-'))
  const server = ['redis-server', '--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder]
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'bench-redis-keeper', folder, ...server], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(keeper, 'exit')
  const url = `redis://127.0.0.1:${port}`
  const stop = async (): Promise<void> => {
    keeper.stdin.end()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await answers(url)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, [Symbol.asyncDispose]: stop }
}

/** Resolves when the server at `url` answers. The client connects again and again until then. */
async function answers(url: string): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 100, retryStrategy: () => 50 })
  client.on('error', () => {})
  try {
    await client.ping()
  } finally {
    client.disconnect()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}
