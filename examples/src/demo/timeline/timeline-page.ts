import { escapeHtml } from './html.js'
import { drawProcessLanes } from './process-lanes.js'
import { style } from './style.js'
import { drawSubscriptionRows } from './subscription-rows.js'
import { timeAxis } from './time-axis.js'
import type { TimelineInput } from './timeline-input.js'
import { checkTable, evidenceTable, phaseTable, verdictBanner } from './verdict-section.js'

const SIGNS: readonly (readonly [string, string, string])[] = [
  ['start', '▸', 'starts, or wakes'],
  ['kill', '✕', 'SIGKILL'],
  ['stop', 'Ⅱ', 'SIGSTOP'],
  ['term', '■', 'SIGTERM'],
  ['lead', '', 'leads'],
  ['db', '', 'database away, then younger than a lease'],
]

/** The whole page: one file that needs nothing else. */
export function renderTimeline(input: TimelineInput): string {
  const axis = timeAxis(input.startedAt, input.endedAt)
  const swatches = input.subscriptions.map(
    (name, index) => `<span class="s${index}"><i class="swatch s${index}"></i>${escapeHtml(name)}</span>`,
  )
  const signs = SIGNS.map(([name, letter, text]) => `<span><i class="sign ${name}">${letter}</i>${text}</span>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who ran what: ${input.verdict.holds ? 'the verdict holds' : 'the verdict does not hold'}</title>
<style>${style()}</style>
</head>
<body>
${verdictBanner(input)}
<section>
<h2>By process</h2>
<p>A bar is a subscription that the process ran. Point at a bar for its times and its fencing token, at a name to see where it went.</p>
<div class="key names">${swatches.join('')}</div>
<div class="key">${signs.join('')}</div>
<div class="scroll">${drawProcessLanes(input, axis)}</div>
</section>
<section>
<h2>By subscription</h2>
<p>From owner to owner. <span class="key" style="display:inline-flex;margin:0"><span><i class="sign gap"></i>nobody runs it</span></span></p>
<div class="scroll">${drawSubscriptionRows(input, axis)}</div>
</section>
<section>
<h2>What each phase cost</h2>
${phaseTable(input)}
</section>
<div class="columns">
<section>
<h2>What was checked</h2>
${checkTable(input)}
</section>
<section>
<h2>What the database says</h2>
${evidenceTable(input)}
</section>
</div>
</body>
</html>
`
}
