import { advisoryLockCandidate } from './advisory-lock-candidate.js'
import { campaignCandidate } from './campaign-candidate.js'
import type { Candidate, Meeting } from './candidate.js'
import { polledLeaseCandidate } from './polled-lease-candidate.js'
import { rawLockCandidate } from './raw-lock-candidate.js'
import { redlockCandidate } from './redlock-candidate.js'

/** Every way to elect a leader that is measured here. */
export const CANDIDATES = {
  campaign: campaignCandidate,
  'raw lock': rawLockCandidate,
  'advisory-lock': advisoryLockCandidate,
  redlock: redlockCandidate,
  'polled lease': polledLeaseCandidate,
} satisfies Record<string, (meeting: Meeting) => Candidate>

export type CandidateKind = keyof typeof CANDIDATES
