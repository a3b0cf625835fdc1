import { until } from '@es/coordination-testing'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { conflictsOf, ElectorProcess, machineSeconds } from './elector-process.test.harness.js'
import { LEASE_SECONDS, TestElection, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

let election: TestElection
const children: ElectorProcess[] = []

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterEach(async () => {
  const conflicts = conflictsOf(children)
  const alarms = children.flatMap((child) => child.alarms)
  const errors = children.map(({ errors }) => errors).join('')
  await Promise.all(children.splice(0).map((child) => child[Symbol.asyncDispose]()))
  await until(async () => (await election.leftovers()).sessions === 0, {
    what: 'the sessions of the last test to be gone',
    withinSeconds: 15,
  })
  expect({ conflicts, alarms, errors }).toEqual({ conflicts: [], alarms: [], errors: '' })
})

afterAll(() => election?.[Symbol.asyncDispose]())

function start(identity: string, options: Record<string, unknown> = {}): ElectorProcess {
  const child = new ElectorProcess({
    identity,
    connection: election.url,
    leaseSeconds: LEASE_SECONDS,
    waitSliceSeconds: WAIT_SLICE_SECONDS,
    requestTimeoutSeconds: 2,
    longestRetrySeconds: 0.5,
    ...options,
  })
  children.push(child)
  return child
}

const leading = (child: ElectorProcess) =>
  until(() => child.leads, { what: `${child.identity} to lead`, withinSeconds: 15, everySeconds: 0.002 })

/** Two processes: the first leads, the second waits in line. */
async function pair(): Promise<[leader: ElectorProcess, rival: ElectorProcess]> {
  const leader = start('leader')
  await leading(leader)
  const rival = start('rival')
  await election.waitForWaiter('rival')
  return [leader, rival]
}

const startOfTerm = (child: ElectorProcess): number => child.of('lead').at(-1)?.at ?? Number.NaN

describe('a leader process', () => {
  it('that is killed is replaced at once, five times in a row (P13b)', async () => {
    let [leader, rival] = await pair()
    const figures: number[] = []
    for (let round = 0; round < 5; round++) {
      const killedAt = leader.signal('SIGKILL')
      await leading(rival)
      figures.push(startOfTerm(rival) - killedAt)
      leader = rival
      rival = start(`rival ${round}`)
      await election.waitForWaiter(rival.identity)
    }
    process.stdout.write(`takeover after SIGKILL: ${figures.map((seconds) => `${(seconds * 1000).toFixed(0)} ms`).join(', ')}\n`)
    expect(Math.max(...figures)).toBeLessThan(1)
  })

  it('that is stopped is replaced within the lease, a slice and a margin, and knows it on its first line afterwards (W3)', async () => {
    const [leader, rival] = await pair()
    const stoppedAt = leader.signal('SIGSTOP')
    await leading(rival)
    const seconds = startOfTerm(rival) - stoppedAt
    process.stdout.write(`takeover after SIGSTOP: ${seconds.toFixed(2)} s (lease ${LEASE_SECONDS} s, slice ${WAIT_SLICE_SECONDS} s)\n`)
    expect(seconds).toBeLessThan(LEASE_SECONDS + WAIT_SLICE_SECONDS + 0.5 + 1)
    const wokenAt = leader.signal('SIGCONT')
    await until(() => !leader.leads, { what: 'the old leader to know', withinSeconds: 5 })
    const end = leader.of('unlead').at(-1)
    expect(end?.believedUntil).toBeLessThan(wokenAt)
    await until(() => leader.of('told').length === 2, { what: 'its callback' })
    expect(leader.of('told').map(({ isLeader }) => isLeader)).toEqual([true, false])
    // It campaigns again, and may lead again.
    await election.waitForWaiter('leader')
    rival.signal('SIGKILL')
    await leading(leader)
  })

  it('that is stopped for less than its trust goes on leading as if nothing had been', async () => {
    const [leader] = await pair()
    const stoppedAt = leader.signal('SIGSTOP')
    await until(() => machineSeconds() - stoppedAt > LEASE_SECONDS / 4, { what: 'a quarter of the lease' })
    leader.signal('SIGCONT')
    await until(() => machineSeconds() - stoppedAt > 2 * LEASE_SECONDS, { what: 'two leases' })
    expect([leader.leads, leader.of('told').length]).toEqual([true, 1])
  })

  it('and its rivals that are stopped and woken at random never lead two at a time', async () => {
    const all = ['a', 'b', 'c'].map((identity) => start(identity))
    const pauses = [0.3, 1.1, 1.7, 0.9, 1.3, 2]
    for (const pause of pauses) {
      const leader = await until(() => all.find((child) => child.leads), { what: 'a leader', withinSeconds: 15 })
      const stoppedAt = leader.signal('SIGSTOP')
      await until(() => machineSeconds() - stoppedAt > pause, { what: 'the pause', withinSeconds: 10 })
      leader.signal('SIGCONT')
    }
    await until(() => all.filter((child) => child.leads).length === 1, { what: 'one leader at the end', withinSeconds: 15 })
    expect(new Set(all.flatMap((child) => child.terms().map(({ identity }) => identity))).size).toBeGreaterThan(1)
  })

  it('that releases hands over at once', async () => {
    const [leader, rival] = await pair()
    const releasedAt = machineSeconds()
    leader.send('release')
    await leading(rival)
    const seconds = startOfTerm(rival) - releasedAt
    process.stdout.write(`takeover after release: ${(seconds * 1000).toFixed(0)} ms\n`)
    expect(seconds).toBeLessThan(1)
  })
})

describe('a process whose sessions are all ended', () => {
  it('survives it while idle, asking, connecting and releasing, is told once a term, and comes back (P8)', async () => {
    const [leader, rival] = await pair()
    const endAll = () =>
      election.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
    for (let round = 0; round < 30; round++) {
      if (round % 3 === 0) for (const child of [leader, rival]) if (child.leads) child.send('release')
      await endAll()
      if (round % 5 === 4) await until(() => leader.leads || rival.leads, { what: 'a leader', withinSeconds: 15 })
    }
    await until(() => leader.leads || rival.leads, { what: 'a leader at the end', withinSeconds: 15 })
    for (const child of [leader, rival]) {
      expect(child.process.exitCode).toBeNull()
      for (const [index, { isLeader }] of child.of('told').entries()) expect(isLeader).toBe(index % 2 === 0)
    }
  })
})

describe('the process ends by itself', () => {
  const exit = async (child: ElectorProcess, after: string): Promise<number> => {
    await until(() => child.of(after).length > 0, { what: after, withinSeconds: 15 })
    const reportedAt = child.of(after)[0]?.at ?? 0
    expect(await child.exited).toEqual({ status: 0, signal: null })
    return child.endedAt - reportedAt
  }

  it('when it only imports the package (W7c)', async () => {
    expect(await exit(start('importer', { mode: 'import' }), 'done')).toBeLessThan(1)
  })

  it('within a second after an elector was used and closed (W7a)', async () => {
    expect(await exit(start('once', { mode: 'once' }), 'closed')).toBeLessThan(1)
  })

  it('within a second after a campaign was closed, as leader and as candidate (W7a)', async () => {
    const [leader, rival] = await pair()
    rival.send('close')
    expect(await exit(rival, 'closed')).toBeLessThan(1)
    leader.send('close')
    expect(await exit(leader, 'closed')).toBeLessThan(1)
  })

  it('not while it leads or campaigns, even if it has nothing else to do (W7b)', async () => {
    const leader = start('leader', { mode: 'bare' })
    await until(() => leader.of('told').length === 1, { what: 'the leader to lead', withinSeconds: 15 })
    const rival = start('rival', { mode: 'bare' })
    await election.waitForWaiter('rival')
    const startedAt = machineSeconds()
    await until(() => machineSeconds() - startedAt > 3, { what: 'three seconds' })
    expect([leader.process.exitCode, rival.process.exitCode]).toEqual([null, null])
  })
})
