import type { TransportHandler } from '@es/coordination-core'
import type { CaseGroup } from './case-group.js'
import { saying, type TransportStage } from './transport-stage.js'

async function assertLogs(stage: TransportStage, error: Error, handler: TransportHandler): Promise<void> {
  await stage.subscribe(stage.second, 't', handler)
  await stage.publish(stage.first, 't', saying('hello'))
  await stage.logged(error)
}

export const failingHandlerCases: CaseGroup = {
  name: 'handlers that fail',
  cases: [
    {
      name: 'goes on when a handler throws, and tells the publisher nothing of it',
      async run(stage) {
        const fail = (): never => {
          throw new Error('a handler that throws, on purpose')
        }
        // All around the others, so that it does not matter who is called first.
        for (const transport of stage.transports) await stage.subscribe(transport, 't', fail)
        const inboxes = [await stage.hear(stage.second, 't'), await stage.hear(stage.third, 't')]
        for (const transport of stage.transports) await stage.subscribe(transport, 't', fail)
        for (const text of ['one', 'two', 'three']) {
          await stage.publish(stage.first, 't', saying(text))
          await stage.heard(text, ...inboxes)
        }
        await stage.publish(stage.second, 't', saying('four'))
        await stage.heard('four', ...inboxes.slice(1))
      },
    },
    {
      name: 'logs what a handler throws',
      needs: ['logging'],
      run(stage) {
        const error = new Error('a handler that throws, on purpose')
        return assertLogs(stage, error, () => {
          throw error
        })
      },
    },
    {
      name: 'logs what an async handler rejects with, for which nobody else waits',
      needs: ['logging'],
      run(stage) {
        const error = new Error('a handler that rejects, on purpose')
        const handler = (async () => Promise.reject(error)) as TransportHandler
        return assertLogs(stage, error, handler)
      },
    },
    {
      name: 'does not wait for an async handler',
      async run(stage) {
        await stage.subscribe(stage.second, 't', () => new Promise<void>(() => {}))
        const inbox = await stage.hear(stage.second, 't')
        for (const text of ['one', 'two']) {
          await stage.publish(stage.first, 't', saying(text))
          await stage.heard(text, inbox)
        }
      },
    },
  ],
}
