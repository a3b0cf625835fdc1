import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the ports that systems hand out to outgoing connections (Linux from 32768, macOS from 49152). With one of those, a client that
// keeps connecting to a server that is down sooner or later gets the same port as its own, connects to itself, and keeps the server out.
const LOWEST = 20_000
const HIGHEST = 32_000
const ATTEMPTS = 50

/** A port of 127.0.0.1 that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port among ${ATTEMPTS} tried between ${LOWEST} and ${HIGHEST} on 127.0.0.1`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
