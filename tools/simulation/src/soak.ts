import { ExplorationFailure, type ExplorationFigures, type ExplorationOptions, explore, type StepKind } from '@es/coordination-testing'
import { memoryBackend } from './memory-backend.js'
import type { SoakOptions } from './soak-options.js'
import { createWorker } from './worker-instance.js'

/** The command that tries a failing scenario again. */
function rerunCommand({ seed, path }: { readonly seed: number; readonly path: string }, { family, backend }: SoakOptions): string {
  const extras = [...(family === null ? [] : ['--family', family]), ...(backend === 'locks' ? [] : ['--backend', backend])]
  return ['pnpm soak', '--seed', seed, '--path', path, ...extras].join(' ')
}

/** How `explore` is asked for what the command line says. */
export function explorationOptions(options: SoakOptions): ExplorationOptions {
  const { scenarios, seed, path, minutes, family, backend } = options
  return {
    createInstance: createWorker,
    ...(backend === 'memory' && { createBackend: memoryBackend }),
    ...{ seed, ...(path !== null && { path }), ...(family !== null && { choices: { family } }) },
    ...(minutes === null ? { scenarios } : { scenarios: UNBOUNDED, withinSeconds: minutes * 60 }),
    rerunCommand: (failure) => rerunCommand(failure, options),
  }
}

const UNBOUNDED = 2 ** 31 - 1

/** Runs it, telling how far it is. Resolves to whether nothing went wrong. */
export async function soak(options: SoakOptions, print: (line: string) => void, progressEverySeconds = 5): Promise<boolean> {
  const startedAt = performance.now()
  let toldAt = startedAt
  const progress = ({ scenarios, seconds }: ExplorationFigures): void => {
    const now = performance.now()
    if (now - toldAt < progressEverySeconds * 1000) return
    toldAt = now
    print(`${scenarios} scenarios, ${hours(seconds)} simulated in ${((now - startedAt) / 1000).toFixed(0)} s`)
  }
  try {
    const figures = await explore({ ...explorationOptions(options), progress })
    print(formatFigures(figures, (performance.now() - startedAt) / 1000))
    return true
  } catch (error) {
    if (!(error instanceof ExplorationFailure)) throw error
    print(error.message)
    return false
  }
}

/** The figures at the end. */
function formatFigures(figures: ExplorationFigures, realSeconds: number): string {
  const { scenarios, seconds, terms, published, delivered, statements, steps, longestTakeoverSeconds, longestRecoverySeconds } = figures
  const width = Math.max(...[...steps.keys()].map((kind) => kind.length))
  const row = (kind: StepKind): string => {
    const { done = 0, onLeader = 0, onOwner = 0 } = steps.get(kind) ?? {}
    return `  ${kind.padEnd(width)}  ${String(done).padStart(7)}${onOwner > 0 ? `  (${onLeader} to a leader, ${onOwner} to an owner)` : ''}`
  }
  return [
    `${scenarios} scenarios, ${hours(seconds)} simulated in ${realSeconds.toFixed(1)} s: nothing went wrong`,
    `${terms} terms, ${published} messages published, ${delivered} delivered, ${statements} requests to the backend`,
    `longest without owner ${longestTakeoverSeconds.toFixed(2)} s, longest until whole ${longestRecoverySeconds.toFixed(2)} s`,
    ...[...steps.keys()].sort().map(row),
  ].join('\n')
}

function hours(seconds: number): string {
  return `${(seconds / 3600).toFixed(1)} h`
}
