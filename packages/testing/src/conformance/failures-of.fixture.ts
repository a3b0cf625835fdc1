import type { ConformanceCase } from './conformance-suite.js'

/** Names of the cases that fail, in the order of the suite. Plays all that can be played at once, each with a setup of its own. */
export async function failuresOf(cases: readonly ConformanceCase<string>[]): Promise<string[]> {
  const playable = cases.filter(({ missingPowers }) => missingPowers.length === 0)
  const outcomes = await Promise.allSettled(playable.map((conformanceCase) => conformanceCase.run()))
  return playable.filter((_, index) => outcomes[index]?.status === 'rejected').map(({ name }) => name)
}
