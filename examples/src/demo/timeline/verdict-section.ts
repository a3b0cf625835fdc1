import { lengthOf, type PhaseCost } from '../verdict.js'
import { gapText, milliseconds } from '../verdict-text.js'
import { escapeHtml, px, table } from './html.js'
import type { TimelineInput } from './timeline-input.js'

/** The top of the page: whether the verdict holds, and the numbers that decide it. */
export function verdictBanner({ verdict, evidence, runs, startedAt, endedAt, workers }: TimelineInput): string {
  const sum = (count: (each: (typeof evidence)[number]) => number): number => evidence.reduce((total, each) => total + count(each), 0)
  const together = verdict.checks.find(({ name }) => name === 'two owners at one instant')
  const tiles: readonly (readonly [string, string])[] = [
    [
      sum(({ applied }) => applied).toLocaleString('en-US'),
      `events applied, ${evidence.length} × ${(evidence[0]?.events ?? 0).toLocaleString('en-US')}`,
    ],
    [String(sum(({ lost }) => lost)), 'lost'],
    [String(sum(({ appliedTwice }) => appliedTwice)), 'applied twice'],
    [together?.found ?? '?', 'times two owners at one instant'],
    [`${verdict.starts}`, `starts of runs; the fewest possible are ${verdict.fewestStarts}`],
    [`${new Set(runs.map(({ pid }) => pid)).size}`, `processes, under ${workers.length} names, in ${(endedAt - startedAt).toFixed(0)} s`],
  ]
  const failed = verdict.checks.filter(({ isFine }) => !isFine).map(({ name }) => name)
  return `<header class="${verdict.holds ? 'holds' : 'fails'}">
<p class="verdict"><span>${verdict.holds ? '✓' : '✕'}</span> ${verdict.holds ? 'The verdict holds' : `The verdict does not hold. Failed: ${escapeHtml(failed.join(', '))}`}</p>
<h1>${evidence.length} subscriptions, shared by ${workers.length} processes</h1>
<div class="tiles">${tiles.map(([number, text]) => `<div><b>${number}</b><span>${escapeHtml(text)}</span></div>`).join('')}</div>
</header>`
}

/** What each phase cost. */
export function phaseTable({ verdict }: TimelineInput): string {
  const rows = verdict.costs.map((cost, index) => [
    `<span class="nr">${index + 1}</span>${escapeHtml(cost.phase.title)}`,
    escapeHtml(gapText(cost)),
    gapMeter(cost),
    milliseconds(cost.phase.gapLimitSeconds),
    String(cost.starts),
    String(cost.phase.fewestStarts),
  ])
  return table(['Phase', 'Longest time without an owner', '', 'Limit', 'Starts', 'Fewest possible'], rows, 'phases')
}

function gapMeter({ phase, longestGap }: PhaseCost): string {
  const share = longestGap === null ? 0 : Math.min(lengthOf(longestGap) / phase.gapLimitSeconds, 1)
  return `<span class="meter${share >= 1 ? ' over' : ''}"><i style="width:${px(share * 100)}%"></i></span>`
}

/** Everything that was checked. */
export function checkTable({ verdict }: TimelineInput): string {
  return table(
    ['', 'Check', 'Found'],
    verdict.checks.map(({ name, isFine, found }) => [
      `<span class="${isFine ? 'fine' : 'wrong'}">${isFine ? '✓' : '✕'}</span>`,
      escapeHtml(name),
      escapeHtml(found),
    ]),
    'checks',
  )
}

/** What the database says about each subscription. */
export function evidenceTable({ evidence, runs, subscriptions }: TimelineInput): string {
  const rows = subscriptions.map((name, index) => {
    const found = evidence.find(({ subscription }) => subscription === name)
    const numbers = [
      found?.applied,
      found?.lost,
      found?.appliedTwice,
      found?.wrongRows,
      runs.filter(({ subscription }) => subscription === name).length,
    ]
    return [`<i class="swatch s${index}"></i>${escapeHtml(name)}`, ...numbers.map((number) => (number ?? 0).toLocaleString('en-US'))]
  })
  return table(['Subscription', 'Events', 'Lost', 'Twice', 'Wrong rows', 'Runs'], rows, 'numbers')
}
