/** One line of a {@link Transcript}. */
export interface TranscriptLine {
  /** Seconds of true time since the beginning. */
  readonly at: number
  /** The instance, or empty for what befalls all. */
  readonly who: string
  readonly what: string
  /** Whether the scenario did it, and not an instance. */
  readonly isStep: boolean
}

// More names than these say nothing.
const MOST_NAMES = 8

/** What happened, in words: the minutes of a simulation. Renewals and heartbeats are left out. */
export class Transcript {
  readonly #now: () => number
  readonly #isKept: boolean
  readonly #lines: { at: number; who: string; what: string; isStep: boolean; names: string[] | null }[] = []

  /** @param isKept whether there is to be anything in it. */
  constructor(now: () => number, isKept: boolean) {
    this.#now = now
    this.#isKept = isKept
  }

  /** An instance does or learns something. */
  say(who: string, what: string): void {
    if (this.#isKept) this.#lines.push({ at: this.#now(), who, what, isStep: false, names: null })
  }

  /** An instance does the same to several things in one instant: that becomes one line. */
  list(who: string, verb: string, name: string): void {
    if (!this.#isKept) return
    const at = this.#now()
    const last = this.#lines.findLast((line) => line.at !== at || line.who === who)
    if (last !== undefined && last.names !== null && last.at === at && last.who === who && last.what === verb) last.names.push(name)
    else this.#lines.push({ at, who, what: verb, isStep: false, names: [name] })
  }

  /** The scenario does something. */
  step(who: string, what: string): void {
    if (this.#isKept) this.#lines.push({ at: this.#now(), who, what, isStep: true, names: null })
  }

  get lines(): readonly TranscriptLine[] {
    return this.#lines.map(({ at, who, what, isStep, names }) => ({
      at,
      who,
      what: names === null ? what : `${what} ${enumerate(names)}`,
      isStep,
    }))
  }
}

/** The names with commas between, the first few of many. */
export function enumerate(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return more > 1 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more` : names.join(', ')
}

/** The lines as text: time, who, what; what the scenario did is marked with `>>`. */
export function formatTranscript(lines: readonly TranscriptLine[]): string {
  const width = Math.max(0, ...lines.map(({ who }) => who.length))
  return lines
    .map(({ at, who, what, isStep }) => `${at.toFixed(3).padStart(8)} ${isStep ? '>>' : '  '} ${who.padEnd(width)}  ${what}`.trimEnd())
    .join('\n')
}
