/**
 * How a fuzz test runs: `runs` inputs, the same ones every time. `FUZZ_SEED` makes them others and `FUZZ_FACTOR` more (see CONTRIBUTING.md).
 * fast-check prints the seed and the smallest input of a failure.
 */
export function fuzzing(runs: number): { readonly seed: number; readonly numRuns: number } {
  const { FUZZ_SEED = '1', FUZZ_FACTOR = '1' } = process.env
  return { seed: Number(FUZZ_SEED), numRuns: Math.ceil(runs * Number(FUZZ_FACTOR)) }
}
