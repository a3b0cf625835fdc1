import assert from 'node:assert/strict'
import type { Unsubscribe } from '@es/coordination-core'
import type { CaseGroup } from './case-group.js'
import { saying } from './transport-stage.js'

const ROUNDS = 10

export const subscriptionCases: CaseGroup = {
  name: 'subscriptions',
  cases: [
    {
      name: 'delivers what is published as soon as subscribe() has resolved',
      async run(stage) {
        for (let round = 1; round <= ROUNDS; round++) {
          const inbox = await stage.hear(stage.second, `topic ${round}`)
          await stage.publish(stage.first, `topic ${round}`, saying('hello'))
          await stage.heard('hello', inbox)
        }
      },
    },
    {
      name: 'does not call a handler any more from the moment it unsubscribed',
      async run(stage) {
        const { first, second } = stage
        const leaving = await stage.hear(second, 't')
        const staying = await stage.hear(second, 't')
        await stage.publish(first, 't', saying('to both'))
        await stage.heard('to both', leaving, staying)
        // Still on its way when the handler leaves.
        const underWay = stage.publish(first, 't', saying('to one'))
        leaving.unsubscribe()
        const before = leaving.messages.length
        await underWay
        await stage.heard('to one', staying)
        await stage.publish(first, 't', saying('to one again'))
        await stage.heard('to one again', staying)
        assert.equal(leaving.messages.length, before, 'a handler was called after it had unsubscribed')
      },
    },
    {
      name: 'delivers again to one that unsubscribed and subscribes anew',
      async run(stage) {
        const other = await stage.hear(stage.third, 't')
        for (let round = 1; round <= ROUNDS; round++) {
          const inbox = await stage.hear(stage.second, 't')
          await stage.publish(stage.first, 't', saying(`round ${round}`))
          await stage.heard(`round ${round}`, inbox, other)
          inbox.unsubscribe()
        }
      },
    },
    {
      name: 'ends one subscription only, however often it is asked to',
      async run(stage) {
        const { first, second, third } = stage
        const messages: unknown[] = []
        const handler = (message: unknown): void => void messages.push(message)
        const one = await stage.subscribe(second, 't', handler)
        const two = await stage.subscribe(second, 't', handler)
        const other = await stage.hear(second, 't')
        const far = await stage.hear(third, 't')
        for (let again = 0; again < 3; again++) one()
        await stage.publish(first, 't', saying('after the first'))
        await stage.heard('after the first', { messages, unsubscribe: two }, other, far)
        two()
        const before = messages.length
        await stage.publish(first, 't', saying('after the second'))
        await stage.heard('after the second', other, far)
        assert.equal(messages.length, before, 'a handler was called after both of its subscriptions had ended')
      },
    },
    {
      name: 'skips nobody when a handler unsubscribes itself',
      async run(stage) {
        const { first, second } = stage
        const before = await stage.hear(second, 't')
        const ends: Unsubscribe[] = []
        let calls = 0
        for (let self = 0; self < 2; self++)
          ends.push(
            await stage.subscribe(second, 't', () => {
              calls++
              ends[self]?.()
            }),
          )
        const after = await stage.hear(second, 't')
        await stage.publish(first, 't', saying('one'))
        await stage.heard('one', before, after)
        await stage.publish(first, 't', saying('two'))
        await stage.heard('two', before, after)
        assert.equal(calls, 2, 'each of the two handlers that unsubscribe themselves must be called once')
      },
    },
    {
      name: 'does not call a handler that another one unsubscribed while the message was delivered',
      async run(stage) {
        const { first, second } = stage
        const ends: Unsubscribe[] = []
        let calls = 0
        // Each ends the other, so that it does not matter who is called first.
        for (const rival of [1, 0])
          ends.push(
            await stage.subscribe(second, 't', () => {
              calls++
              ends[rival]?.()
            }),
          )
        const other = await stage.hear(second, 't')
        await stage.publish(first, 't', saying('hello'))
        await stage.heard('hello', other)
        assert.equal(calls, 1, 'a handler was called after another one had unsubscribed it')
      },
    },
  ],
}
