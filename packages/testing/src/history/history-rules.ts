/** What `checkHistory` judges by. Each rule has a number to cite, and says what must be so. */
export const HISTORY_RULES = {
  two_leaders: { number: 'H1', sentence: 'At no instant do two instances believe that they lead.' },
  two_owners: { number: 'H2', sentence: 'At no instant do two instances believe that they hold the claim on one subscription.' },
  two_runs: {
    number: 'H3',
    sentence: 'At no instant do two instances run one subscription, apart from a run whose claim was lost and that has not noticed.',
  },
  token_not_growing: {
    number: 'H4',
    sentence: 'The token of a term, or of a claim on a subscription, is larger than that of every earlier one.',
  },
  stale_write: { number: 'H5', sentence: 'Nothing is written under a token once a larger one was written for the subscription.' },
  // Stricter than harm: where the next owner reads the checkpoint in the transaction that puts its own token down, a write that slips in before that
  // is harmless. Whoever works so, and stops processes in the middle of a write, skips this rule and relies on H5 and H10 to H12.
  late_write: {
    number: 'H6',
    sentence: 'Nothing is written under a claim that has ended once a later claim on the subscription has begun.',
  },
  trusted_too_long: { number: 'H7', sentence: 'Nobody leads, holds a claim or starts a run past the deadline up to which it could trust.' },
  // Owned is claimed, by default: whether a run goes on under the claim is for the positions to show (H10, `lastPositions`).
  without_owner: { number: 'H8', sentence: 'A subscription is owned again within the bound after the last change or fault.' },
  without_leader: { number: 'H9', sentence: 'There is a leader again within the bound after the last change or fault.' },
  event_lost: { number: 'H10', sentence: 'Every position up to the last is written.' },
  event_repeated: { number: 'H11', sentence: 'No position is written twice.' },
  event_out_of_order: { number: 'H12', sentence: 'No position is written after a larger one, and no checkpoint goes back.' },
  needless_move: {
    number: 'H13',
    sentence: 'An instance that stays gives a subscription away at most once for each change, fault, loss or failed run in the cluster.',
  },
  // A run that goes on after its claim has ended is no breach in itself: H5, H6 and H10 to H12 judge what it writes.
  impossible: {
    number: 'H14',
    sentence: 'The history is possible in itself: nobody acts while dead or paused, ends what was not begun, or runs without a claim.',
  },
} as const satisfies Readonly<Record<string, { readonly number: `H${number}`; readonly sentence: string }>>

/** Name of a rule, see {@link HISTORY_RULES}. */
export type HistoryRule = keyof typeof HISTORY_RULES
