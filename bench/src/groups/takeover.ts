import { setTimeout as delay } from 'node:timers/promises'
import { alternate } from '../alternate.js'
import type { BenchmarkGroup } from '../benchmark.js'
import type { CandidateKind } from '../candidates/candidates.js'
import { CREATE_LEASE_TABLE } from '../candidates/polled-lease-candidate.js'
import { Observer } from '../observer.js'
import { CandidateProgram } from '../processes/candidate-program.js'
import { startRedis } from '../processes/redis-server.js'
import { scratchDatabase } from '../scratch-database.js'
import { aheadOfThat, medianBelowSeconds, ratioAtMost } from '../targets.js'

const ROUNDS = 15
const FEWER_ROUNDS = 8
const ELECTION = 'measured'
/** How many leaders of a slow kind are killed, all in one go. */
const AT_A_TIME = 8

/** Somebody who waits in line again and again while one leader after the other is killed. */
class Succession implements AsyncDisposable {
  readonly #kind: CandidateKind
  readonly #url: string
  readonly #heir: CandidateProgram
  readonly #observer: Observer

  constructor(kind: CandidateKind, url: string) {
    this.#kind = kind
    this.#url = url
    this.#heir = new CandidateProgram(kind, url)
    this.#observer = new Observer(url)
  }

  /** Seconds from the death of a leader until its heir leads. */
  async takeover(): Promise<number> {
    await using leader = new CandidateProgram(this.#kind, this.#url)
    await leader.lead(ELECTION)
    const succeeded = this.#heir.lead(ELECTION)
    await this.#observer.untilSomebodyWaits()
    await delay(20 + Math.random() * 100)
    const killedAt = leader.signal('SIGKILL')
    const seconds = (await succeeded) - killedAt
    await this.#heir.release(ELECTION)
    return seconds
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#heir[Symbol.asyncDispose]()
    await this.#observer[Symbol.asyncDispose]()
  }
}

/** Takeovers by `campaign`, and by another kind of session on the same server in between. */
async function besides(databaseUrl: string, kind: CandidateKind): Promise<{ readonly samples: number[]; readonly beside: number[] }> {
  await using ours = await scratchDatabase(databaseUrl)
  await using theirs = await scratchDatabase(databaseUrl)
  await using campaign = new Succession('campaign', ours.url)
  await using other = new Succession(kind, theirs.url)
  return await alternate(
    ROUNDS,
    () => campaign.takeover(),
    () => other.takeover(),
    1,
  )
}

async function campaignTakeovers(databaseUrl: string): Promise<number[]> {
  await using database = await scratchDatabase(databaseUrl)
  await using campaign = new Succession('campaign', database.url)
  const samples: number[] = []
  for (let round = 0; round < FEWER_ROUNDS; round++) samples.push(await campaign.takeover())
  return samples
}

/**
 * Takeovers by a kind that renews every `cycleSeconds` and polls: many elections at once, in which the leaders die spread over the cycle.
 *
 * @param watchSeconds how long the heirs watch before.
 */
async function slowTakeovers(
  kind: CandidateKind,
  connection: string,
  { cycleSeconds, watchSeconds }: { readonly cycleSeconds: number; readonly watchSeconds: number },
): Promise<number[]> {
  await using heir = new CandidateProgram(kind, connection)
  const takeover = async (index: number): Promise<number> => {
    const election = `${ELECTION} ${index}`
    await using leader = new CandidateProgram(kind, connection)
    await leader.lead(election)
    const succeeded = heir.lead(election)
    await delay((watchSeconds + ((index + 0.5) / AT_A_TIME) * cycleSeconds) * 1000)
    const killedAt = leader.signal('SIGKILL')
    return (await succeeded) - killedAt
  }
  return await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => takeover(index)))
}

const what = '`campaign`: from the SIGKILL of the leader until the next one leads'

export const takeover: BenchmarkGroup = {
  name: 'takeover',
  needsServer: true,
  benchmarks: [
    {
      name: 'raw-lock',
      what,
      beside: 'a bare session blocked in `pg_advisory_lock`',
      targets: [ratioAtMost(3), medianBelowSeconds(0.05)],
      run: async ({ databaseUrl }) => ({ unit: 'duration', ...(await besides(databaseUrl, 'raw lock')) }),
    },
    {
      name: 'advisory-lock',
      what,
      beside: 'npm `advisory-lock` 2.0',
      targets: [aheadOfThat],
      shortfall:
        'it blocks in the same `pg_advisory_lock`, so nothing can be ahead of it here; what it leaves out is the fencing token, the look whether the server still is the primary and holds the lock, and the limit on how long a waiting session holds back VACUUM. From a leader that is stopped or cut off it never takes over.',
      run: async ({ databaseUrl }) => ({ unit: 'duration', ...(await besides(databaseUrl, 'advisory-lock')) }),
    },
    {
      name: 'redlock',
      what,
      beside: 'npm `redlock` 5 beta, defaults and 5 s',
      targets: [aheadOfThat],
      async run({ databaseUrl }) {
        const samples = await campaignTakeovers(databaseUrl)
        await using redis = await startRedis()
        if (redis === null) return { unit: 'duration', samples, remarks: ['There is no redis-server on this machine.'] }
        // Extended half a second before its 5 s are over.
        const beside = await slowTakeovers('redlock', redis.url, { cycleSeconds: 4.5, watchSeconds: 1 })
        return { unit: 'duration', samples, beside }
      },
    },
    {
      name: 'polled-lease',
      what,
      beside: 'a lease of 15 s, renewed and polled every 2 s as the client libraries of Kubernetes do, on a table',
      targets: [aheadOfThat],
      async run({ databaseUrl }) {
        const samples = await campaignTakeovers(databaseUrl)
        await using database = await scratchDatabase(databaseUrl)
        await using observer = new Observer(database.url)
        await observer.query(CREATE_LEASE_TABLE)
        const beside = await slowTakeovers('polled lease', database.url, { cycleSeconds: 2, watchSeconds: 5 })
        return { unit: 'duration', samples, beside }
      },
    },
  ],
}
