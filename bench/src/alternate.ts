import { median } from './statistics.js'

/** What is repeated: resolves to the sample of one repetition. */
export type Repetition = () => Promise<number> | number

/**
 * Runs the two in turn, so that whatever else the machine is doing at the time slows down both: measured, beside, beside, measured, and so on. The first
 * `warmUps` rounds do not count.
 */
export async function alternate(
  rounds: number,
  measured: Repetition,
  beside: Repetition,
  warmUps = 0,
): Promise<{ readonly samples: number[]; readonly beside: number[] }> {
  const samples: number[] = []
  const others: number[] = []
  for (let round = -warmUps; round < rounds; round++) {
    const order = [async () => samples.push(await measured()), async () => others.push(await beside())]
    if (round % 2 !== 0) order.reverse()
    for (const repeat of order) await repeat()
    if (round < 0) samples.length = others.length = 0
  }
  return { samples, beside: others }
}

/** Seconds that `work` takes, as the median of `count` times one after the other: what interrupts a few of them does not count. */
export async function typicalSeconds(count: number, work: () => Promise<unknown>): Promise<number> {
  const seconds: number[] = []
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now()
    await work()
    seconds.push((performance.now() - startedAt) / 1000)
  }
  return median(seconds)
}
