import type { Meeting } from './candidate.js'
import type { CandidateKind } from './candidates.js'

/** What a candidate process is told. A process may stand in any number of elections. */
export type CandidateCommand =
  /** Leads from some time on; the first such command of an election makes the candidate. */
  (Meeting & { readonly type: 'lead'; readonly kind: CandidateKind }) | { readonly type: 'release'; readonly election: string }

/** What a candidate process tells. Times are on the clock that all processes of the machine share. */
export type CandidateReport =
  | { readonly type: 'leads'; readonly election: string; readonly at: number }
  /** It is about to release. */
  | { readonly type: 'releasing'; readonly election: string; readonly at: number }
  /** It believes no longer that it leads, and did so for the last time at `believedUntil`, as far as it looked. */
  | { readonly type: 'ceased'; readonly election: string; readonly believedUntil: number }
