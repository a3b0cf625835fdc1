/** What the feed process is started with; its only argument, as JSON. */
export interface FeedSettings {
  readonly connection: string
  readonly eventsPerSecond: number
  /** The file to which it appends what the server acknowledged: a line of JSON for each batch, see {@link Acknowledged}. */
  readonly acknowledgements: string
}

/** Keys from one to another, both included, of which the server said that they are written. */
export interface Acknowledged {
  readonly from: number
  readonly to: number
}
