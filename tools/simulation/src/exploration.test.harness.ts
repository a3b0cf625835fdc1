import { type ExplorationFigures, type ExplorationOptions, explore, type StepKind } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { explorationOptions } from './soak.js'
import { parseSoakOptions } from './soak-options.js'

/** Explores as `pnpm soak` does, so that the command in a failure shows the same. */
export async function exploreAsSoak(args: readonly string[], more: Partial<ExplorationOptions> = {}): Promise<ExplorationFigures> {
  return await explore({ ...explorationOptions(parseSoakOptions(args)), ...more })
}

/** Fails for a kind of fault that hardly ever happened: a search without it says nothing about it. */
export function expectAll(figures: ExplorationFigures, kinds: readonly StepKind[]): void {
  for (const kind of kinds) expect(figures.steps.get(kind)?.done ?? 0, kind).toBeGreaterThan(figures.scenarios / 40)
}

/** Fails for a kind of fault that hardly ever befell somebody who led, or who ran something. */
export function expectHits(figures: ExplorationFigures, kinds: readonly StepKind[]): void {
  for (const kind of kinds) {
    const { onLeader = 0, onOwner = 0 } = figures.steps.get(kind) ?? {}
    expect(onLeader, `${kind} of a leader`).toBeGreaterThan(figures.scenarios / 100)
    expect(onOwner, `${kind} of an owner`).toBeGreaterThan(figures.scenarios / 100)
  }
}

/** The test of 400 scenarios with claims. One file for each seed, so that they run beside each other. */
export function claimsSurvive(seed: number): void {
  it(`no fault breaks a cluster with claims, seed ${seed}`, { timeout: 300_000 }, async () => {
    const figures = await exploreAsSoak(['--family', 'claims', '--seeds', '400', '--seed', String(seed)])
    expectAll(figures, ['start', 'stop', 'restart', 'crash', 'pause', 'jump_clock', 'drift', 'end_session', 'cut_bus', 'partition'])
    expectAll(figures, ['bad_network', 'bad_backend', 'restart_backend', 'misbehave'])
    expectHits(figures, ['stop', 'restart', 'crash', 'pause', 'jump_clock', 'drift', 'end_session', 'cut_bus', 'bad_backend'])
  })
}
