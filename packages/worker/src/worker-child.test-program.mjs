// A process with a coordinated worker on in-memory adapters, for tests of how a process ends. Argument: `import`, `stop`, `stay` or `signals`.
// Writes JSON lines.
import { InMemoryLeaderElector, InMemoryOwnership, InMemoryTransport, SharedBus, SharedClaims } from '@es/coordination-memory'
import { CoordinatedWorker } from '../dist/index.js'

const mode = process.argv[2]
const write = (event, fields = {}) => process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`)
process.on('unhandledRejection', (error) => write('unhandledRejection', { text: String(error) }))
process.on('warning', (warning) => write('warning', { text: String(warning) }))

/** How long each run takes to end after it was told to, in milliseconds. */
const RUNS = { quick: 200, slow: 5000, never: Number.POSITIVE_INFINITY }

if (mode !== 'import') {
  const worker = new CoordinatedWorker({
    instanceId: 'a',
    subscriptions: Object.keys(RUNS),
    elector: new InMemoryLeaderElector('a'),
    transport: new InMemoryTransport({ bus: new SharedBus() }),
    ownership: new InMemoryOwnership('a', { claims: new SharedClaims() }),
    settleSeconds: 0.1,
    drainTimeoutSeconds: 1,
    handleSignals: mode === 'signals',
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    async run(subscription, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      write('told', { subscription, code: signal.reason.code })
      await new Promise((resolve) => {
        if (RUNS[subscription] < 1000) setTimeout(resolve, RUNS[subscription])
      })
    },
  })
  worker.onEvent(({ type, ...fields }) => {
    if (type === 'run_started' || type === 'stopping' || type === 'stopped')
      write(type, fields.abandoned ? { abandoned: fields.abandoned } : {})
  })
  await worker.start()
  if (mode === 'stop') {
    const { abandoned } = await worker.stop()
    write('result', { abandoned })
  }
}
