import type { ClientBase, Pool } from 'pg'

/**
 * One transaction. It does not commit once `lost` has aborted: its connection is ended then, and with it whatever is under way.
 *
 * @throws what `work` throws, the driver's error, or the reason of `lost`; nothing was written then, unless the connection broke during COMMIT.
 */
export async function inTransaction<T>(pool: Pool, lost: AbortSignal, work: (client: ClientBase) => Promise<T>): Promise<T> {
  lost.throwIfAborted()
  const client = await pool.connect()
  let isReleased = false
  const release = (isBroken: boolean): void => {
    if (isReleased) return
    isReleased = true
    client.off('error', ignore)
    client.release(isBroken)
  }
  // The pool listens to idle connections alone; one that ends in use would end the process, and the next statement tells anyhow.
  client.on('error', ignore)
  const giveUp = (): void => release(true)
  lost.addEventListener('abort', giveUp)
  try {
    lost.throwIfAborted()
    await client.query('BEGIN')
    const result = await work(client)
    lost.throwIfAborted()
    await client.query('COMMIT')
    release(false)
    return result
  } catch (error) {
    // Ending the connection rolls back, even where ROLLBACK could not be sent.
    release(true)
    throw error
  } finally {
    lost.removeEventListener('abort', giveUp)
  }
}

function ignore(): void {}
