// Runs benchmarks of one group, and reports each as it is done. Told by its parent what to run; ends with it.

import { CATALOGUE } from './catalogue.js'
import type { GroupCommand, GroupReport } from './group-messages.js'
import { killChildPrograms } from './processes/child-program.js'
import { endWithParent } from './processes/end-with-parent.js'

async function run({ group, benchmarks, databaseUrl }: GroupCommand): Promise<void> {
  const wanted = CATALOGUE.find(({ name }) => name === group)?.benchmarks.filter(({ name }) => benchmarks.includes(name)) ?? []
  for (const benchmark of wanted) {
    const { name } = benchmark
    await report(
      await benchmark.run({ databaseUrl }).then(
        (measurement): GroupReport => ({ type: 'measured', name, measurement }),
        (error: unknown): GroupReport => ({
          type: 'failed',
          name,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      ),
    )
  }
}

function report(message: GroupReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(message, () => resolve())
  })
}

function end(): void {
  killChildPrograms()
  process.exit()
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
endWithParent(end)
process.on('message', (command: GroupCommand) => void run(command).finally(end))
