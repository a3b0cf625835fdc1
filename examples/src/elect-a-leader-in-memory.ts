// Shows an election inside one process, for tests and development: two electors that share a state, at most one of them leads, changes are
// told to callbacks, and whoever waits in `campaign` is next. Nothing here reaches another process; see elect-a-leader-in-postgres.ts for that.
import assert from 'node:assert/strict'
import { InMemoryLeaderElector, SharedLeaderState } from '@es/coordination-memory'

const sharedState = new SharedLeaderState()
const first = new InMemoryLeaderElector('worker-1', { sharedState })
const second = new InMemoryLeaderElector('worker-2', { sharedState })

const told: string[] = []
first.onLeaderChange((isLeader) => void told.push(`worker-1 ${isLeader ? 'leads' : 'leads no more'}`))
second.onLeaderChange((isLeader) => void told.push(`worker-2 ${isLeader ? 'leads' : 'leads no more'}`))

// One attempt, which does not wait: the first wins, the second is refused and learns who leads.
assert.equal(await first.tryAcquire(), true)
assert.equal(await second.tryAcquire(), false)
assert.equal(second.currentLeader, 'worker-1')
const firstToken = first.fencingToken

// Waiting for leadership instead. It is handed over the moment it becomes free.
const campaign = second.campaign()
await first.release()
await campaign
assert.equal(second.isLeader, true)
assert.ok(firstToken !== null && second.fencingToken !== null && second.fencingToken > firstToken, 'the token grows from term to term')

// A test of what your work does when leadership is taken away, as a backend would.
await second.forceLoseLeadership()
assert.equal(second.isLeader, false)
assert.equal(sharedState.currentLeader, null)

assert.deepEqual(told, ['worker-1 leads', 'worker-1 leads no more', 'worker-2 leads', 'worker-2 leads no more'])

// Of ten that ask at the same time, exactly one wins.
const ten = Array.from({ length: 10 }, (_, index) => new InMemoryLeaderElector(`worker-${index}`, { sharedState }))
const answers = await Promise.all(ten.map((elector) => elector.tryAcquire()))
assert.equal(answers.filter(Boolean).length, 1)

console.log(told.join('\n'))
console.log(`Of ten contenders, ${sharedState.currentLeader} alone leads`)
