import { PostgresLeaderElector } from '@es/coordination-postgres'
import { silentLogger } from '../silent-logger.js'
import type { Candidate, Meeting } from './candidate.js'

/** This project's elector on a connection of its own, with its defaults. */
export function campaignCandidate(meeting: Meeting): Candidate {
  const elector = new PostgresLeaderElector({ ...meeting, logger: silentLogger })
  return {
    lead: () => elector.campaign(),
    release: () => elector.release(),
    get isLeader() {
      return elector.isLeader
    },
  }
}
