import { HEARTBEAT_TOPIC, HeartbeatMessage, MessageDecoder } from '@es/coordination-core'
import type { BenchmarkGroup } from '../benchmark.js'
import { compareInProcess, type InProcessWork } from '../in-process.js'
import { IN_PROCESS_TOLERANCE } from '../regression-check.js'
import { rateAtLeast, ratioAtMost } from '../targets.js'

// A run of them is shorter than what interrupts it.
const OPERATIONS = 50

// Different ones, as they come from different peers.
const HEARTBEATS = Array.from(
  { length: 64 },
  (_, peer) =>
    new HeartbeatMessage({
      instanceId: `projections-7d9f8b6c5-${peer}`,
      timestamp: new Date(Date.UTC(2026, 0, 1, 12, 0, 0, peer)),
      subscriptions: Array.from({ length: 20 }, (_, index) => `projection-${peer}-${index}`),
      inFlightCount: peer,
      loadFactor: peer / 64,
      incarnation: `5f0c1d1e-3a63-4f6e-9a55-${String(peer).padStart(12, '0')}`,
      sequence: 1000 + peer,
    }),
)
const DICTS = HEARTBEATS.map((heartbeat) => heartbeat.toDict())
const TEXTS = DICTS.map((dict) => JSON.stringify(dict))

/** Runs `work` on each of `inputs` in turn. */
function each<Input>(inputs: readonly Input[], work: (input: Input) => unknown): InProcessWork {
  let checked: unknown
  let offset = 0
  return {
    operations: OPERATIONS,
    run: () => {
      for (let index = 0; index < OPERATIONS; index++) checked = work(inputs[(offset + index) % inputs.length] as Input)
      offset += OPERATIONS
      if (checked === null) throw new Error('A message was refused')
    },
  }
}

const decoder = new MessageDecoder()

export const messages: BenchmarkGroup = {
  name: 'messages',
  benchmarks: [
    {
      name: 'decode',
      what: 'decode a heartbeat of 20 subscriptions, from text to message',
      beside: '`JSON.parse` alone',
      targets: [rateAtLeast(150_000), ratioAtMost(4)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: () =>
        compareInProcess({
          unit: 'rate',
          measured: each(TEXTS, (text) => decoder.decode(HEARTBEAT_TOPIC, text)),
          beside: each(TEXTS, (text) => JSON.parse(text)),
        }),
    },
    {
      name: 'encode',
      what: 'encode it, from message to text',
      beside: '`JSON.stringify` of the bare object',
      targets: [rateAtLeast(300_000)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: () =>
        compareInProcess({
          unit: 'rate',
          measured: each(HEARTBEATS, (heartbeat) => JSON.stringify(heartbeat.toDict())),
          beside: each(DICTS, (dict) => JSON.stringify(dict)),
        }),
    },
  ],
}
