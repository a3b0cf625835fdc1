import type { Logger } from '@es/coordination-core'

/** What was opened for one case. */
export interface Closable {
  /** Ends what was opened. Called once, also after a case that failed in the middle. */
  close(): Promise<void>
}

/** What an adapter's author provides so that a suite can test the adapter. */
export interface ConformanceWorld<Setup extends Closable, Powers> {
  /** Name of the adapter, for the output. */
  readonly name: string
  /**
   * Opens everything anew: called once for every case, with several open at a time only if the runner runs cases in parallel.
   *
   * @param tools.logger to be given to the adapter; it records instead of printing what the cases provoke.
   */
  open(tools: { readonly logger: Logger }): Promise<Setup>
  /**
   * How long one step may take, in seconds, before its case fails: an answer of the backend, or an effect that follows by itself. Too short
   * a time fails on a slow machine; a long one costs only failing cases their time.
   * @default 2
   */
  readonly patienceSeconds?: number
  /** What this adapter can do beyond the contract, and what can be done to it. Cases for what is left out are skipped visibly. */
  readonly powers?: Powers
}
