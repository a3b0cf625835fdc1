import type { Candidate, Meeting } from './candidate.js'

type CandidateMaker = (meeting: Meeting) => Candidate

/** Every way to elect a leader that is measured here. Loaded when it is needed: a process that is started and killed again and again should not load all. */
export const CANDIDATES = {
  campaign: async () => (await import('./campaign-candidate.js')).campaignCandidate,
  'raw lock': async () => (await import('./raw-lock-candidate.js')).rawLockCandidate,
  'advisory-lock': async () => (await import('./advisory-lock-candidate.js')).advisoryLockCandidate,
  redlock: async () => (await import('./redlock-candidate.js')).redlockCandidate,
  'polled lease': async () => (await import('./polled-lease-candidate.js')).polledLeaseCandidate,
} satisfies Record<string, () => Promise<CandidateMaker>>

export type CandidateKind = keyof typeof CANDIDATES
