import assert from 'node:assert/strict'
import { assertRejectsWithConnectionError } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { saying, type TransportStage } from './transport-stage.js'

/** How often `transport` tells that messages may have been missed; counts from now on. */
function resyncsOf(transport: TransportStage['first']): { readonly count: number } {
  const resyncs = { count: 0 }
  transport.onResync(() => void resyncs.count++)
  return resyncs
}

async function reconnect(stage: TransportStage, transport: TransportStage['first'], connect: () => Promise<void>): Promise<void> {
  const resyncs = resyncsOf(transport)
  await connect()
  await stage.eventually('onResync to be told of the new connection', () => resyncs.count > 0)
}

export const disconnectionCases: CaseGroup = {
  name: 'loss of the connection',
  cases: [
    {
      name: 'tells no resync while nothing was lost',
      async run(stage) {
        const resyncs = stage.transports.map(resyncsOf)
        const inbox = await stage.hear(stage.second, 't')
        await stage.publish(stage.first, 't', saying('hello'))
        await stage.heard('hello', inbox)
        assert.deepEqual(
          resyncs.map(({ count }) => count),
          [0, 0, 0],
          'onResync was told although no connection had been lost',
        )
      },
    },
    {
      name: 'rejects publish() with a ConnectionError while it is disconnected',
      needs: ['disconnect'],
      async run(stage) {
        await stage.publish(stage.first, 't', saying('hello'))
        await stage.disconnect(stage.first)
        for (let again = 0; again < 3; again++)
          await assertRejectsWithConnectionError('publish() while disconnected', stage.publish(stage.first, 't', saying('lost')))
      },
    },
    {
      name: 'rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second, third } = stage
        const far = await stage.hear(third, 'new')
        await stage.hear(second, 't')
        const connect = await stage.disconnect(second)
        let calls = 0
        // Not the topic that it knows: it may not have noticed the loss yet, and then need not ask anybody.
        const attempt = stage.subscribe(second, 'new', () => void calls++)
        await assertRejectsWithConnectionError('subscribe() while disconnected', attempt)
        await reconnect(stage, second, connect)
        const near = await stage.hear(second, 'new')
        await stage.publish(first, 'new', saying('hello again'))
        await stage.heard('hello again', near, far)
        assert.equal(calls, 0, 'a handler was called although its subscribe() had rejected')
      },
    },
    {
      name: 'has renewed its subscriptions when it tells onResync',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second } = stage
        const inboxes = [await stage.hear(second, 't'), await stage.hear(second, 't'), await stage.hear(second, 'u')]
        const connect = await stage.disconnect(second)
        let asked: Promise<unknown> | undefined
        // What a resync is for: to ask the others at once for what may have been missed.
        second.onResync(() => {
          asked ??= Promise.all([first.publish('t', saying('what you missed')), first.publish('u', saying('what you missed'))])
        })
        await connect()
        await stage.eventually('onResync to be told', () => asked !== undefined)
        await stage.soon('publish() of another transport inside onResync', asked ?? Promise.resolve())
        await stage.heard('what you missed', ...inboxes)
      },
    },
    {
      name: 'publishes again after every loss of the connection, and tells each',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second } = stage
        const inbox = await stage.hear(second, 't')
        await stage.publish(first, 't', saying('before'))
        const resyncs = resyncsOf(first)
        for (let loss = 1; loss <= 2; loss++) {
          const connect = await stage.disconnect(first)
          await connect()
          await stage.eventually(`onResync to be told of loss ${loss}`, () => resyncs.count >= loss)
          await stage.publish(first, 't', saying(`after loss ${loss}`))
          await stage.heard(`after loss ${loss}`, inbox)
        }
      },
    },
    {
      name: 'does not renew a subscription that ended before or while it was disconnected',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second } = stage
        const before = await stage.hear(second, 't')
        const meanwhile = await stage.hear(second, 't')
        const staying = await stage.hear(second, 't')
        before.unsubscribe()
        const connect = await stage.disconnect(second)
        meanwhile.unsubscribe()
        await reconnect(stage, second, connect)
        await stage.publish(first, 't', saying('hello again'))
        await stage.heard('hello again', staying)
        assert.deepEqual([...before.messages, ...meanwhile.messages], [], 'a subscription that had ended was renewed')
      },
    },
    {
      name: 'leaves the other transports alone when one is disconnected',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second, third } = stage
        const resyncs = [first, third].map(resyncsOf)
        const inbox = await stage.hear(third, 't')
        await stage.hear(second, 't')
        await stage.disconnect(second)
        await stage.publish(first, 't', saying('hello'))
        await stage.heard('hello', inbox)
        assert.deepEqual(
          resyncs.map(({ count }) => count),
          [0, 0],
          'onResync was told to a transport that was not disconnected',
        )
      },
    },
    {
      name: 'tells onResync no more once that has ended, however often it is asked to, and skips nobody',
      needs: ['disconnect'],
      async run(stage) {
        const { second } = stage
        await stage.hear(second, 't')
        const calls: string[] = []
        const tell = (): void => void calls.push('told twice')
        const ended = second.onResync(() => void calls.push('ended before'))
        const one = second.onResync(tell)
        second.onResync(tell)
        const itself = second.onResync(() => {
          calls.push('ends itself')
          itself()
        })
        const told = resyncsOf(second)
        for (let again = 0; again < 3; again++) ended()
        const losses = 2
        for (let loss = 1; loss <= losses; loss++) {
          await (await stage.disconnect(second))()
          await stage.eventually(`onResync to be told of loss ${loss}`, () => told.count >= loss)
          for (let again = 0; again < 3; again++) one()
        }
        assert.deepEqual(
          calls.slice(0, 4).toSorted(),
          ['ends itself', 'told twice', 'told twice', 'told twice'],
          'each registration is told until it ends',
        )
      },
    },
    {
      name: 'goes on when a callback of onResync throws',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second } = stage
        const fail = (): never => {
          throw new Error('a resync callback that throws, on purpose')
        }
        const inbox = await stage.hear(second, 't')
        second.onResync(fail)
        const resyncs = resyncsOf(second)
        second.onResync(fail)
        for (let loss = 1; loss <= 2; loss++) {
          await (await stage.disconnect(second))()
          await stage.eventually(`the callback beside the failing ones to be told of loss ${loss}`, () => resyncs.count >= loss)
          await stage.publish(first, 't', saying(`after loss ${loss}`))
          await stage.heard(`after loss ${loss}`, inbox)
        }
      },
    },
    {
      name: 'logs what an async callback of onResync rejects with, for which nobody else waits',
      needs: ['disconnect', 'logging'],
      async run(stage) {
        const error = new Error('a resync callback that rejects, on purpose')
        await stage.hear(stage.second, 't')
        stage.second.onResync((async () => Promise.reject(error)) as () => void)
        await (await stage.disconnect(stage.second))()
        await stage.logged(error)
      },
    },
  ],
}
