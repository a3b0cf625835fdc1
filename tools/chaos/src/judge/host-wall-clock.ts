import { hostSeconds } from '../host-clock.js'
import { withClient } from '../store.js'

const NOW = 'SELECT extract(epoch FROM clock_timestamp())::float8 AS now'
const TRIES = 5

/** How far the server's wall clock is ahead of `hostSeconds`, in seconds, to within half of the fastest of some round trips. */
export async function wallClockOffset(url: string): Promise<number> {
  return await withClient(url, async (client) => {
    let best = { seconds: Number.POSITIVE_INFINITY, offset: 0 }
    for (let tries = 0; tries < TRIES; tries++) {
      const before = hostSeconds()
      const { rows } = await client.query<{ now: number }>(NOW)
      const after = hostSeconds()
      if (after - before < best.seconds) best = { seconds: after - before, offset: (rows[0]?.now ?? Number.NaN) - (before + after) / 2 }
    }
    return best.offset
  })
}
