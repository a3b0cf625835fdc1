import { describe, expect, it } from 'vitest'
import { type Chart, svgChart } from './svg-chart.js'

const chart: Chart = {
  title: 'Messages & more',
  xLabel: 'instances',
  yLabel: 'messages a second',
  series: [
    {
      name: 'delivered',
      points: [
        { x: 10, y: 20 },
        { x: 1000, y: 200_000 },
      ],
    },
    { name: 'computed', isDashed: true, points: [{ x: 1000, y: 190_000 }] },
  ],
}

function texts(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, content]) => content ?? '')
}

describe('a chart', () => {
  it('names its axes and lines, and has a tick for each power of ten around the values', () => {
    expect(texts(svgChart(chart))).toEqual([
      'Messages &amp; more',
      ...['10', '100', '1,000'],
      ...['10', '100', '1,000', '10,000', '100,000', '1,000,000'],
      ...['instances', 'messages a second', 'delivered', 'computed'],
    ])
  })

  it('puts equal factors at equal distances', () => {
    const points = [1, 10, 100].map((x) => ({ x, y: x }))
    const svg = svgChart({ ...chart, series: [{ name: 'all', points }] })
    const dots = [...svg.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)] as const)
    const [one, two, three] = dots as [readonly [number, number], readonly [number, number], readonly [number, number]]
    expect(two[0] - one[0]).toBeCloseTo(three[0] - two[0])
    expect(one[1] - two[1]).toBeCloseTo(two[1] - three[1])
  })

  it('marks what was measured with dots, and what is computed with dashes', () => {
    const svg = svgChart(chart)
    expect(svg.match(/<circle class="dot c0"/g)).toHaveLength(2)
    expect(svg).not.toContain('<circle class="dot c1"')
    expect(svg).toContain('class="line c1 dashed"')
  })

  it('keeps the names of lines apart that end in one place, and inside the picture', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const y of [1, 1000]) {
      const low = { name: 'other', points: [{ x: 1, y: 1001 - y }] }
      const svg = svgChart({ ...chart, series: [...names.slice(1).map((name) => ({ name, points: [{ x: 10, y }] })), low] })
      const heights = [...svg.matchAll(/y="([\d.]+)" class="name/g)].map(([, at]) => Number(at)).sort((one, other) => one - other)
      for (const [index, at] of heights.entries()) {
        expect(at).toBeLessThan(420)
        if (index > 0) expect(at - (heights[index - 1] ?? 0)).toBeGreaterThanOrEqual(17)
      }
    }
  })

  it('follows the colour scheme', () => {
    expect(svgChart(chart)).toContain('@media (prefers-color-scheme:dark)')
  })

  it('leaves out what has no logarithm, and refuses to draw nothing', () => {
    const nothing = { name: 'absent', points: [{ x: 1, y: 0 }] }
    expect(svgChart({ ...chart, series: [...chart.series, nothing] })).not.toMatch(/absent|line c2/)
    expect(() => svgChart({ ...chart, series: [nothing] })).toThrow(/nothing to draw/)
    expect(() => svgChart({ ...chart, series: Array.from({ length: 7 }, () => nothing) })).toThrow(/7 lines/)
  })

  it('is the same every time', () => {
    expect(svgChart(chart)).toBe(svgChart(structuredClone(chart)))
  })
})
