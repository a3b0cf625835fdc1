/** Silence of exactly a limit is not beyond it yet. What follows from going beyond is looked at this much later, in seconds. */
export const A_MOMENT_SECONDS = 0.001
