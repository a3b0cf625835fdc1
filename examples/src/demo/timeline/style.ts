/** Hues of the twelve subscriptions: neighbours in the list are far apart on the wheel. */
const HUES = Array.from({ length: 12 }, (_, index) => (((index * 5) % 12) * 30 + 20) % 360)

interface Theme {
  /** Lightness of colours, in turn, so that near hues differ in it. */
  readonly lightness: readonly [number, number]
  readonly chroma: number
  readonly variables: string
}

const LIGHT: Theme = {
  lightness: [0.57, 0.45],
  chroma: 0.135,
  variables:
    '--page:#f6f6f3;--card:#ffffff;--ink:#1c1e22;--muted:#5f6570;--line:#dfe0e4;--minor:#eeeeec;--band:#0000000a;--life:#eceef1;--on-bar:#ffffff;--leader:#3a3f49;--on-leader:#ffffff;--good:#18794e;--good-ground:#e3f4ea;--bad:#c4291c;--bad-ground:#fdeae7;--warm:#a15c00;--young:#c4291c12;--outage:#c4291c4d',
}

const DARK: Theme = {
  lightness: [0.8, 0.67],
  chroma: 0.12,
  variables:
    '--page:#121418;--card:#1a1d22;--ink:#e9ebee;--muted:#9ba2ad;--line:#30353d;--minor:#23272d;--band:#ffffff08;--life:#262a31;--on-bar:#101216;--leader:#d5d9e0;--on-leader:#15171b;--good:#56c78f;--good-ground:#14301f;--bad:#ff7d6b;--bad-ground:#3b1814;--warm:#f0b255;--young:#ff7d6b17;--outage:#ff7d6b59',
}

function variables({ lightness, chroma, variables: rest }: Theme): string {
  const colours = HUES.map((hue, index) => `--c${index}:oklch(${lightness[index % 2]} ${chroma} ${hue})`)
  return `${rest};${colours.join(';')}`
}

const LAYOUT = `
* { box-sizing: border-box }
body { margin: 0 auto; padding: 28px 32px 48px; max-width: 1560px; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif }
h1 { margin: 2px 0 18px; font-size: 27px; font-weight: 650; letter-spacing: -.015em }
h2 { margin: 0 0 2px; font-size: 16px; font-weight: 650 }
p { margin: 0 0 12px; color: var(--muted) }
section { margin-top: 18px; padding: 18px 20px; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
.verdict { display: inline-flex; align-items: center; gap: 8px; margin: 0; padding: 4px 14px 4px 10px; border-radius: 99px; font-weight: 600 }
.holds .verdict { background: var(--good-ground); color: var(--good) }
.fails .verdict { background: var(--bad-ground); color: var(--bad) }
.tiles { display: grid; grid-template-columns: repeat(6, 1fr); gap: 12px }
.tiles div { padding: 12px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
.tiles b { display: block; font-size: 25px; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums }
.tiles span { color: var(--muted); font-size: 12.5px; line-height: 1.3; display: block }
.scroll { overflow-x: auto }
.scroll > svg { display: block; width: 100%; min-width: 1080px; height: auto; font-size: 11px }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; align-items: start }
@media (max-width: 1100px) { .columns { grid-template-columns: 1fr } .tiles { grid-template-columns: repeat(3, 1fr) } }
@media (max-width: 600px) { body { padding: 16px } .tiles { grid-template-columns: repeat(2, 1fr) } }`

const DRAWING = `
svg text { dominant-baseline: central; fill: var(--ink) }
.tick { stroke: var(--line) } .minor { stroke: var(--minor) }
.axis { text-anchor: middle; fill: var(--muted) !important; font-size: 10.5px }
.lane { font-size: 12.5px; font-weight: 600 } .lane.row { font-size: 11.5px; font-weight: 500 }
.phase .odd { fill: none } .phase .even { fill: var(--band) } .phase .head { fill: var(--life) }
.phase text { font-size: 11px; fill: var(--muted) } .phase .nr { font-weight: 700; fill: var(--ink) }
.life { fill: var(--life) }
.term rect { fill: var(--leader) } .term text { fill: var(--on-leader); font-size: 10.5px; font-weight: 600 }
.bar text { fill: var(--on-bar); font-size: 9.5px; font-weight: 550; pointer-events: none }
.bar { transition: opacity .12s } .bar:hover rect { stroke: var(--ink); stroke-width: 1.5 }
.hatch { stroke: var(--warm); stroke-width: 2.2; opacity: .5 }
.standstill { fill: url(#hatch) }
.mark line { stroke-width: 1.5 } .mark text { text-anchor: middle; font-size: 8.5px; font-weight: 700; fill: var(--card); pointer-events: none }
.mark circle { stroke: var(--card); stroke-width: 1.5 }
.mark .note { font-size: 11px; fill: var(--ink); paint-order: stroke; stroke: var(--life); stroke-width: 4px }
.started circle, .woken circle { fill: var(--good) } .started line, .woken line { stroke: var(--good) }
.killed circle { fill: var(--bad) } .killed line { stroke: var(--bad) }
.paused circle { fill: var(--warm) } .paused line { stroke: var(--warm) }
.terminated circle { fill: var(--muted) } .terminated line { stroke: var(--muted) }
.outage { fill: var(--outage) } .young { fill: var(--young) }
.gap rect { fill: var(--bad) }`

const KEY_AND_TABLES = `
.key { display: flex; flex-wrap: wrap; gap: 6px 16px; margin: 10px 0 12px; font-size: 12.5px }
.key.names { display: grid; grid-template-columns: repeat(auto-fill, minmax(168px, 1fr)) }
.key span { display: inline-flex; align-items: center; gap: 6px; cursor: default }
.key .sign { width: 15px; height: 15px; border-radius: 99px; color: var(--card); font-size: 9px; font-weight: 700; display: grid; place-items: center; font-style: normal }
.sign.start { background: var(--good) } .sign.kill { background: var(--bad) } .sign.stop { background: var(--warm) } .sign.term { background: var(--muted) }
.sign.db { border-radius: 3px !important; background: var(--outage) } .sign.lead { border-radius: 3px !important; background: var(--leader) }
.sign.gap { border-radius: 2px !important; height: 3px !important; background: var(--bad) }
.swatch { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 2px; vertical-align: -1px }
table { width: 100%; border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12px }
th, td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line) } tr:last-child td { border-bottom: 0 }
.numbers th:not(:first-child), .numbers td:not(:first-child), .phases th:nth-child(n+4), .phases td:nth-child(n+4) { text-align: right }
td .swatch { margin-right: 8px }
td .nr { display: inline-block; min-width: 20px; font-weight: 700 }
.fine { color: var(--good); font-weight: 700 } .wrong { color: var(--bad); font-weight: 700 }
.meter { display: block; width: 120px; height: 6px; border-radius: 9px; background: var(--life); overflow: hidden }
.meter i { display: block; height: 100%; background: var(--good) } .meter.over i { background: var(--bad) }`

/** The style of the page: light or dark as the reader's system is. */
export function style(): string {
  const each = HUES.map(
    (_, index) =>
      `.bar.s${index} rect { fill: var(--c${index}) } .swatch.s${index} { background: var(--c${index}) }` +
      // To point at one subscription dims the others, in both drawings.
      ` body:has(.s${index}:hover) .bar:not(.s${index}) { opacity: .16 }`,
  )
  return `:root { color-scheme: light dark; ${variables(LIGHT)} }
@media (prefers-color-scheme: dark) { :root { ${variables(DARK)} } }
${LAYOUT}${DRAWING}${KEY_AND_TABLES}
${each.join('\n')}`
}
