// One process with a coordinated worker at its defaults, whose runs only wait to be told to end. Leaves on SIGTERM; ends with its parent.
import { once } from 'node:events'
import { PostgresCoordination } from '@es/coordination-postgres'
import { CoordinatedWorker } from '@es/coordination-worker'
import { hostSeconds } from './host-seconds.js'
import { endWithParent } from './processes/end-with-parent.js'
import { silentLogger } from './silent-logger.js'
import { DirectedPlanner } from './workers/directed-planner.js'
import { countStatements, usage } from './workers/usage.js'
import type { WorkerCommand, WorkerProcessReport } from './workers/worker-messages.js'

const planner = new DirectedPlanner()

function report(message: WorkerProcessReport): void {
  process.send?.(message)
}

async function start({ instanceId, connection, subscriptions }: WorkerCommand & { readonly type: 'start' }): Promise<void> {
  const coordination = new PostgresCoordination({ instanceId, connection, logger: silentLogger })
  const { elector, ownership, transport } = coordination
  elector.onLeaderChange((isLeader) => report({ type: 'leadership', isLeader }))
  const worker = new CoordinatedWorker({
    ...{ instanceId, subscriptions, elector, ownership, transport },
    planner: planner.plan,
    handleSignals: true,
    dispose: [coordination],
    logger: silentLogger,
    async run(subscription, { signal }) {
      report({ type: 'run started', subscription, at: hostSeconds() })
      await once(signal, 'abort')
      report({ type: 'run ended', subscription, at: hostSeconds() })
    },
  })
  worker.onEvent(({ type }) => {
    if (type === 'stopped') process.disconnect()
  })
  await worker.start()
}

countStatements()
endWithParent()
process.on('message', (command: WorkerCommand) => {
  if (command.type === 'start') void start(command)
  else if (command.type === 'direct') planner.target = command.to
  else report(usage())
})
