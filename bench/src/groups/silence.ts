import { setTimeout as delay } from 'node:timers/promises'
import { FaultProxy } from '@es/coordination-testing'
import type { BenchmarkContext, BenchmarkGroup, Measurement } from '../benchmark.js'
import { hostSeconds } from '../host-seconds.js'
import { CandidateProgram } from '../processes/candidate-program.js'
import { scratchDatabase } from '../scratch-database.js'
import { neverAboveSeconds } from '../targets.js'

/** The default of `leaseSeconds`. */
const LEASE_SECONDS = 10
/** How many leaders fall silent, all in one go. */
const AT_A_TIME = 4

interface Silenced {
  /** When the leader could last be heard. */
  readonly silentAt: number
  /** Lets it come back to its senses. */
  readonly end: () => void
}

interface Fault {
  /** @param connection of the leader. */
  readonly befall: (leader: CandidateProgram, proxy: FaultProxy) => Silenced
}

const stop: Fault = {
  befall: (leader) => ({ silentAt: leader.signal('SIGSTOP'), end: () => leader.signal('SIGCONT') }),
}

const cutOff: Fault = {
  befall(_leader, proxy) {
    const silentAt = hostSeconds()
    proxy.blackhole()
    return { silentAt, end: () => proxy.heal() }
  },
}

interface Outcome {
  readonly seconds: number
  readonly wereTwoLeaders: boolean
}

async function takeoverFromSilent(databaseUrl: string, heir: CandidateProgram, fault: Fault, index: number): Promise<Outcome> {
  const election = `measured ${index}`
  const address = new URL(databaseUrl)
  await using proxy = await FaultProxy.start({ host: address.hostname, port: Number(address.port || 5432) })
  address.hostname = proxy.host
  address.port = String(proxy.port)
  await using leader = new CandidateProgram('campaign', address.href)
  await leader.lead(election)
  const succeeded = heir.lead(election)
  // Anywhere between two renewals.
  await delay(1000 + ((index + 0.5) / AT_A_TIME) * (LEASE_SECONDS / 3) * 1000)
  const { silentAt, end } = fault.befall(leader, proxy)
  const succeededAt = await succeeded
  end()
  const believedUntil = await leader.ceased(election)
  return { seconds: succeededAt - silentAt, wereTwoLeaders: believedUntil >= succeededAt }
}

async function measure({ databaseUrl }: BenchmarkContext, fault: Fault): Promise<Measurement> {
  await using database = await scratchDatabase(databaseUrl)
  await using heir = new CandidateProgram('campaign', database.url)
  const outcomes = await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => takeoverFromSilent(database.url, heir, fault, index)))
  return {
    unit: 'duration',
    samples: outcomes.map(({ seconds }) => seconds),
    beside: outcomes.map(() => LEASE_SECONDS),
    facts: { 'never two leaders': !outcomes.some(({ wereTwoLeaders }) => wereTwoLeaders) },
  }
}

const beside = 'the lease of 10 s itself; a bare session that is stopped keeps its lock for ever'

export const silence: BenchmarkGroup = {
  name: 'silence',
  needsServer: true,
  benchmarks: [
    {
      name: 'stopped',
      what: '`campaign`: from the SIGSTOP of the leader until the next one leads',
      beside,
      targets: [neverAboveSeconds(LEASE_SECONDS + 0.5)],
      run: (context) => measure(context, stop),
    },
    {
      name: 'cut-off',
      what: '`campaign`: from a black hole around the leader until the next one leads',
      beside,
      targets: [neverAboveSeconds(LEASE_SECONDS + 0.5)],
      run: (context) => measure(context, cutOff),
    },
  ],
}
