// One process with candidates in elections, for benchmarks that kill it, stop it or cut it off. Ends with its parent.

import type { Candidate } from './candidates/candidate.js'
import type { CandidateCommand, CandidateReport } from './candidates/candidate-messages.js'
import { CANDIDATES } from './candidates/candidates.js'
import { hostSeconds } from './host-seconds.js'
import { endWithParent } from './processes/end-with-parent.js'

const LOOK_EVERY_MS = 5

const candidates = new Map<string, Candidate>()
/** When each candidate with an opinion last believed that it leads. */
const believedAt = new Map<string, number>()

function report(message: CandidateReport): void {
  process.send?.(message)
}

async function obey(command: CandidateCommand): Promise<void> {
  const { election } = command
  if (command.type === 'lead') {
    const candidate = candidates.get(election) ?? (await CANDIDATES[command.kind]())(command)
    candidates.set(election, candidate)
    await candidate.lead()
    report({ type: 'leads', election, at: hostSeconds() })
  } else {
    report({ type: 'releasing', election, at: hostSeconds() })
    await candidates.get(election)?.release()
  }
}

function look(): void {
  const now = hostSeconds()
  for (const [election, { isLeader }] of candidates) {
    const believedUntil = believedAt.get(election)
    if (isLeader) believedAt.set(election, now)
    else if (believedUntil !== undefined) {
      believedAt.delete(election)
      report({ type: 'ceased', election, believedUntil })
    }
  }
}

process.on('message', (command: CandidateCommand) => void obey(command))
endWithParent()
setInterval(look, LOOK_EVERY_MS)
