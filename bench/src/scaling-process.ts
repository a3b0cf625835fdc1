// Measures one size of cluster, simulated or on a server. Told by its parent which; ends with it.
import { errorMessage } from '@es/coordination-core'
import { endWithParent } from './processes/end-with-parent.js'
import { measureCell } from './scaling/measure-cell.js'
import { measureFanOut } from './scaling/measure-fan-out.js'
import { measureWorkers } from './scaling/measure-workers.js'
import type { ScalingCommand, ScalingReport } from './scaling/process-messages.js'

function report(message: ScalingReport): void {
  process.send?.(message, () => process.exit())
}

function measure(command: ScalingCommand): Promise<Extract<ScalingReport, { readonly type: 'measured' }>['figures']> {
  switch (command.kind) {
    case 'cell':
      return measureCell(command)
    case 'fan-out':
      return measureFanOut(command.databaseUrl, command.count)
    case 'workers':
      return measureWorkers(command.databaseUrl, command.count)
  }
}

endWithParent()
process.on('message', (command: ScalingCommand) => {
  measure(command).then(
    (figures) => report({ type: 'measured', figures }),
    (error: unknown) => report({ type: 'failed', reason: errorMessage(error) }),
  )
})
