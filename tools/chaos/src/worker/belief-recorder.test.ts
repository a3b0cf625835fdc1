import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Claim, FencedLeaderElector, LeaderChangeCallback } from '@es/coordination-core'
import { type HistoryEvent, parseHistory, until } from '@es/coordination-testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HistoryFile } from '../history-file.js'
import { BeliefRecorder } from './belief-recorder.js'
import { RecordingClock } from './recording-clock.js'

/** A lease as adapters keep one: it is believed in until a time on their clock. */
class Lease {
  readonly #clock: RecordingClock
  #until = 0

  constructor(clock: RecordingClock) {
    this.#clock = clock
  }

  /** As an adapter does, it sets a timer for its deadline. */
  renew(seconds: number): void {
    this.#until = this.#clock.monotonicSeconds() + seconds
    this.#clock.setTimer(0, () => {})
  }

  get isHeld(): boolean {
    return this.#clock.monotonicSeconds() < this.#until
  }
}

let folder: string
let clock: RecordingClock
let lease: Lease
let token: bigint | null
let told: LeaderChangeCallback[]
let recorder: BeliefRecorder

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belief-recorder-'))
  clock = new RecordingClock()
  lease = new Lease(clock)
  token = null
  told = []
  const elector = {
    get fencingToken() {
      return token !== null && lease.isHeld ? token : null
    },
    onLeaderChange: (callback: LeaderChangeCallback) => told.push(callback),
  } as unknown as FencedLeaderElector
  const file = new HistoryFile(join(folder, 'a.jsonl'))
  recorder = new BeliefRecorder({ instanceId: 'a', file, clock, elector, horizonSeconds: 1000, changed() {} })
})

afterEach(() => {
  recorder[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

const recorded = (): readonly HistoryEvent[] => parseHistory(readFileSync(join(folder, 'a.jsonl'), 'utf8'))
const types = (): string[] => recorded().map(({ type }) => type)
const trusted = (): number[] => recorded().map((event) => ('trustedUntil' in event ? (event.trustedUntil ?? 0) - event.at : 0))
/** As long as that from the moment of recording, but for what the machine took. */
function expectTrust(...seconds: readonly number[]): void {
  expect(trusted().length).toBe(seconds.length)
  for (const [index, expected] of seconds.entries()) {
    expect(trusted()[index]).toBeGreaterThan(expected - 20)
    expect(trusted()[index]).toBeLessThan(expected + 0.001)
  }
}

const settled = async (): Promise<void> => await Promise.resolve()

function claimOf(subscription: string, fencingToken: bigint): { readonly claim: Claim; readonly ending: AbortController } {
  const ending = new AbortController()
  const claim: Claim = {
    subscription,
    fencingToken,
    get isHeld() {
      return lease.isHeld
    },
    signal: ending.signal,
  }
  return { claim, ending }
}

describe('leadership', () => {
  it('is recorded with the time up to which it will be trusted, and again in the moment of each renewal', async () => {
    lease.renew(50)
    token = 3n
    for (const callback of told) void callback(true)
    lease.renew(90)
    await settled()
    expect(types()).toEqual(['elected', 'leadership_renewed'])
    expectTrust(50, 90)
  })

  it('is not recorded as renewed when it is not', async () => {
    lease.renew(50)
    token = 3n
    for (const callback of told) void callback(true)
    clock.setTimer(0, () => {})
    await settled()
    expect(types()).toEqual(['elected'])
  })

  it('ends in the history when it is released, before the release begins, and only once', () => {
    lease.renew(50)
    token = 3n
    for (const callback of told) void callback(true)
    recorder.abdicating()
    expect(types()).toEqual(['elected', 'leadership_lost'])
    token = null
    for (const callback of told) void callback(false)
    recorder.abdicating()
    expect(types()).toEqual(['elected', 'leadership_lost'])
  })

  it('ends and begins when another term has come between two looks', () => {
    lease.renew(50)
    token = 3n
    for (const callback of told) void callback(true)
    token = 4n
    for (const callback of told) void callback(true)
    expect(types()).toEqual(['elected', 'leadership_lost', 'elected'])
  })

  it('ends when it lapses, even if nobody is told', async () => {
    lease.renew(0.3)
    token = 3n
    for (const callback of told) void callback(true)
    await until(() => types().at(-1) === 'leadership_lost', { what: 'the end of the term', withinSeconds: 15 })
  })
})

describe('claims', () => {
  it('are recorded once, with the time up to which they will be trusted, and renewed together', async () => {
    lease.renew(50)
    const { claim } = claimOf('s', 7n)
    recorder.claimed([claim])
    recorder.claimed([claim])
    lease.renew(90)
    await settled()
    expect(types()).toEqual(['claimed', 'claims_renewed'])
    expectTrust(50, 90)
  })

  it('that are released end before the release, and are not lost then', () => {
    lease.renew(50)
    const { claim, ending } = claimOf('s', 7n)
    recorder.claimed([claim])
    recorder.releasing(['s', 'unknown'])
    ending.abort()
    expect(types()).toEqual(['claimed', 'claim_released'])
  })

  it('that are lost end at once; one that was lost before it was answered does as well', () => {
    lease.renew(50)
    const { claim, ending } = claimOf('s', 7n)
    recorder.claimed([claim])
    ending.abort()
    const late = claimOf('t', 7n)
    late.ending.abort()
    recorder.claimed([late.claim])
    expect(types()).toEqual(['claimed', 'claim_lost', 'claimed', 'claim_lost'])
  })
})
