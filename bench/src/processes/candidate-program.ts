import type { CandidateCommand, CandidateReport } from '../candidates/candidate-messages.js'
import type { CandidateKind } from '../candidates/candidates.js'
import { ChildProgram } from './child-program.js'

type Leads = CandidateReport & { readonly type: 'leads' }
type Releasing = CandidateReport & { readonly type: 'releasing' }
type Ceased = CandidateReport & { readonly type: 'ceased' }

/** Candidates of one kind in a process of their own. */
export class CandidateProgram extends ChildProgram<CandidateCommand, CandidateReport> {
  readonly #kind: CandidateKind
  readonly #connection: string

  constructor(kind: CandidateKind, connection: string) {
    super('candidate-process.js')
    this.#kind = kind
    this.#connection = connection
  }

  /** Stands for `election`; resolves to the time at which it leads. */
  async lead(election: string): Promise<number> {
    const from = this.reports.length
    this.tell({ type: 'lead', kind: this.#kind, election, identity: `process ${this.pid}`, connection: this.#connection })
    const { at } = await this.report(
      `that it leads ${election} by ${this.#kind}`,
      (report): report is Leads => report.type === 'leads' && report.election === election,
      { from },
    )
    return at
  }

  /** Gives up what it leads; resolves to the time at which it began to. */
  async release(election: string): Promise<number> {
    const from = this.reports.length
    this.tell({ type: 'release', election })
    const { at } = await this.report(
      `that it releases ${election}`,
      (report): report is Releasing => report.type === 'releasing' && report.election === election,
      { from },
    )
    return at
  }

  /** Resolves, when it has ceased to believe that it leads, to the last time at which it did. */
  async ceased(election: string): Promise<number> {
    const { believedUntil } = await this.report(
      `that it ceased to lead ${election}`,
      (report): report is Ceased => report.type === 'ceased' && report.election === election,
    )
    return believedUntil
  }
}
