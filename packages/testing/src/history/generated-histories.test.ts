import { describe, expect, it } from 'vitest'
import { checkHistory, type HistoryReport } from './check-history.js'
import { CLUSTER_BOUNDS } from './cluster-state.fixture.js'
import { correctHistory } from './correct-cluster.fixture.js'
import { EXCLUSION_MUTATIONS } from './exclusion-mutations.fixture.js'
import { formatBreaches } from './format-breaches.js'
import { type HistoryEvent, instanceOf } from './history-event.js'
import { isOwnEvent } from './history-order.js'
import { PROGRESS_MUTATIONS } from './progress-mutations.fixture.js'
import { RECORD_MUTATIONS } from './record-mutations.fixture.js'
import { type SeededRandom, seededRandom } from './seeded-random.fixture.js'

const HISTORIES = Array.from({ length: 300 }, (_, index) => ({ seed: index + 1, history: correctHistory(index + 1) }))

describe('the history of a correct cluster', () => {
  it('has no breach, for any seed', () => {
    for (const { seed, history } of HISTORIES) {
      const report = checkHistory(history, CLUSTER_BOUNDS)
      if (!report.holds) fail(seed, report)
    }
  })

  it('has no breach either when what several recorded in one tick is merged in any order', () => {
    for (const { seed, history } of HISTORIES) {
      const report = checkHistory(shuffleTies(history, seededRandom(seed)), CLUSTER_BOUNDS)
      if (!report.holds) fail(seed, report)
    }
  })
})

describe('checkHistory', () => {
  it('reads a long history in one go', () => {
    const rounds = 40_000
    const history = Array.from({ length: rounds }, (_, round) => longRound(round)).flat()
    const report = checkHistory(history)
    if (!report.holds) fail(0, report)
    expect(report.figures.events).toBe(rounds * 5)
  })
})

describe('the history of a correct cluster with one thing falsified', () => {
  it.each([...EXCLUSION_MUTATIONS, ...PROGRESS_MUTATIONS, ...RECORD_MUTATIONS])('is found out: $name', ({ rules, mutate }) => {
    let places = 0
    for (const { seed, history } of HISTORIES.slice(0, 60)) {
      const mutated = mutate(history, seededRandom(seed))
      if (mutated === null) continue
      places++
      const report = checkHistory(mutated, CLUSTER_BOUNDS)
      if (!report.breaches.some(({ rule }) => rules.includes(rule))) fail(seed, report)
    }
    // Otherwise the mutation proves nothing.
    expect(places).toBeGreaterThan(12)
  })
})

/** A second in the life of one of 1,000 subscriptions, which belong to one instance after the other. */
function longRound(round: number): HistoryEvent[] {
  const subscription = `s${round % 1000}`
  const owner = { instanceId: `i${round % 7}`, subscription }
  const token = BigInt(round + 1)
  const position = Math.floor(round / 1000) + 1
  return [
    { type: 'claimed', at: round, token, ...owner },
    { type: 'run_started', at: round, token, ...owner },
    { type: 'checkpoint_written', at: round + 0.5, position, token, ...owner },
    { type: 'run_stopped', at: round + 0.9, cause: 'lost', ...owner },
    { type: 'claim_lost', at: round + 0.9, ...owner },
  ]
}

function fail(seed: number, report: HistoryReport): never {
  expect.fail(`seed ${seed}: ${formatBreaches(report)}`)
}

/** The same history with the events of one instant in another order; those of one recorder keep theirs. */
function shuffleTies(events: readonly HistoryEvent[], random: SeededRandom): readonly HistoryEvent[] {
  const shuffled: HistoryEvent[] = []
  for (let from = 0; from < events.length; ) {
    const at = events[from]?.at
    let until = from
    while (events[until]?.at === at && until < events.length) until++
    const queues = new Map<string | null, HistoryEvent[]>()
    for (const event of events.slice(from, until)) {
      const recorder = isOwnEvent(event) ? instanceOf(event) : null
      queues.set(recorder, [...(queues.get(recorder) ?? []), event])
    }
    while (queues.size > 0) {
      const [recorder, queue] = random.pick([...queues]) ?? [null, []]
      const event = queue.shift()
      if (event !== undefined) shuffled.push(event)
      else queues.delete(recorder)
    }
    from = until
  }
  return shuffled
}
