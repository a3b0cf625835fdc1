import type { WorkerReport } from './worker-messages.js'

const QUIET_SECONDS = 0.5

/** Tells what is worth a line of what workers report. */
export function narrate(say: (text: string) => void): (worker: string, report: WorkerReport) => void {
  let planned = 0
  return (worker, report) => {
    switch (report.type) {
      case 'elected':
        return say(`${worker} leads, token ${report.token}`)
      case 'unseated':
        return say(`${worker} leads no more`)
      case 'planned':
        // A plan is repeated, with what is left of it, until the heartbeats agree.
        if (report.at > planned + QUIET_SECONDS) say(`${worker} plans ${report.moves} moves`)
        planned = report.at
        return
      case 'refused':
        return say(
          `${worker} was refused as a stale owner of ${report.subscription}: it came with token ${report.token}, and ${report.storedToken} has written already`,
        )
    }
  }
}
