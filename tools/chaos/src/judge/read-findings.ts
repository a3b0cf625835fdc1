import { formatHistory, type HistoryEvent, mergeHistories, parseHistory } from '@es/coordination-testing'
import type { ClientBase } from 'pg'
import type { RunFolder } from './run-folder.js'
import { gatherEvidence, type StoreEvidence } from './store-evidence.js'
import { readStoredWrites } from './stored-writes.js'

/** Puts together what the processes recorded and what the store accepted, and counts the store. The store's part is added to the folder. */
export async function readFindings(
  client: ClientBase,
  folder: RunFolder,
  wallClockOffset: number,
): Promise<{ readonly events: readonly HistoryEvent[]; readonly evidence: StoreEvidence }> {
  const recorded = parseHistory(await folder.histories())
  const writes = await readStoredWrites(client, wallClockOffset)
  await folder.write('store.writes', formatHistory(writes))
  const evidence = await gatherEvidence(client, await folder.acknowledged())
  return { events: mergeHistories([recorded, writes]), evidence }
}
