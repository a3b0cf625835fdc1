import { stripVTControlCharacters } from 'node:util'

/** Where the demo shows what happens. */
export interface Screen {
  /** Something happened: one line that stays. */
  line(text: string): void
  /** How things stand: replaces what was shown last. */
  table(lines: readonly string[]): void
}

/** A live table below the lines in a terminal; the lines alone where output is piped. */
export function openScreen(output: NodeJS.WriteStream): Screen {
  return output.isTTY ? new LiveScreen(output) : { line: (text) => void output.write(`${text}\n`), table() {} }
}

const CLEAR_BELOW = '\x1b[J'
const GREEN = '\x1b[32m'
const RESET = '\x1b[0m'

class LiveScreen implements Screen {
  readonly #output: NodeJS.WriteStream
  readonly #hasColours: boolean
  #shown: readonly string[] = []

  constructor(output: NodeJS.WriteStream) {
    this.#output = output
    this.#hasColours = output.hasColors() && !process.env.NO_COLOR
  }

  line(text: string): void {
    this.#output.write(`${this.#toTop()}${CLEAR_BELOW}${text}\n${this.#shown.map((line) => `${line}\n`).join('')}`)
  }

  table(lines: readonly string[]): void {
    // A line that wraps would take two rows, and the next redraw would start one row too low.
    const width = Math.max(this.#output.columns - 1, 1)
    const before = this.#toTop()
    this.#shown = lines.map((line) => this.#paint(stripVTControlCharacters(line).slice(0, width)))
    this.#output.write(`${before}${CLEAR_BELOW}${this.#shown.map((line) => `${line}\n`).join('')}`)
  }

  #paint(line: string): string {
    return this.#hasColours && line.startsWith('>') ? `${GREEN}${line}${RESET}` : line
  }

  #toTop(): string {
    return this.#shown.length > 0 ? `\x1b[${this.#shown.length}A\r` : ''
  }
}
