import assert from 'node:assert/strict'
import type { CaseGroup } from './case-group.js'
import { saying, textOf } from './transport-stage.js'

const MESSAGES_AT_ONCE = 40

export const deliveryCases: CaseGroup = {
  name: 'delivery',
  cases: [
    {
      name: 'delivers a message to every transport that subscribes',
      async run(stage) {
        const inboxes = [await stage.hear(stage.second, 't'), await stage.hear(stage.third, 't')]
        await stage.publish(stage.first, 't', saying('hello'))
        await stage.heard('hello', ...inboxes)
      },
    },
    {
      name: 'delivers a message to every handler of a topic',
      async run(stage) {
        const inboxes = [await stage.hear(stage.second, 't'), await stage.hear(stage.second, 't'), await stage.hear(stage.second, 't')]
        await stage.publish(stage.first, 't', saying('hello'))
        await stage.heard('hello', ...inboxes)
      },
    },
    {
      name: 'delivers in all directions',
      async run(stage) {
        for (const [receiver, ...senders] of [
          [stage.first, stage.second, stage.third],
          [stage.second, stage.first, stage.third],
          [stage.third, stage.first, stage.second],
        ] as const) {
          const inbox = await stage.hear(receiver, 't')
          for (const sender of senders) {
            const text = `from ${stage.nameOf(sender)} to ${stage.nameOf(receiver)}`
            await stage.publish(sender, 't', saying(text))
            await stage.heard(text, inbox)
          }
        }
      },
    },
    {
      name: 'delivers all of many messages that are published at once',
      async run(stage) {
        const inbox = await stage.hear(stage.third, 't')
        const texts = [stage.first, stage.second].flatMap((sender) =>
          Array.from({ length: MESSAGES_AT_ONCE }, (_, index) => ({ sender, text: `${stage.nameOf(sender)} says ${index}` })),
        )
        await Promise.all(texts.map(({ sender, text }) => stage.publish(sender, 't', saying(text))))
        const missing = () => {
          const heard = new Set(inbox.messages.map(textOf))
          return texts.filter(({ text }) => !heard.has(text)).length
        }
        await stage.eventually(`all ${texts.length} messages to arrive, in any order`, () => missing() === 0)
      },
    },
    {
      name: 'delivers to its own subscribers what it publishes, or does not, as declared',
      needs: ['loopback'],
      async run(stage) {
        const { first, second, loopback } = stage
        const own = await stage.hear(first, 't')
        const others = await stage.hear(second, 't')
        for (const round of ['one', 'two', 'three']) {
          await stage.publish(first, 't', saying(round))
          await stage.heard(round, others)
          await stage.publish(second, 't', saying(`answer to ${round}`))
          await stage.heard(`answer to ${round}`, own)
        }
        if (loopback) await stage.heard('three', own)
        const fromItself = own.messages.map(textOf).filter((text) => !String(text).startsWith('answer'))
        assert.deepEqual(
          [...new Set(fromItself)].toSorted(),
          loopback ? ['one', 'three', 'two'] : [],
          `loopback is declared as ${loopback}`,
        )
      },
    },
    {
      name: 'lets a handler publish and subscribe',
      async run(stage) {
        const { first, second } = stage
        const answers = await stage.hear(first, 'answers')
        const late: unknown[] = []
        let failure: unknown
        let hasAnswered = false
        await stage.subscribe(second, 'questions', () => {
          // A repeated question needs no second answer.
          if (hasAnswered) return
          hasAnswered = true
          second
            .subscribe('later', (message) => void late.push(message))
            .then(() => second.publish('answers', saying('yes')))
            .catch((error: unknown) => {
              failure = error
            })
        })
        await stage.publish(first, 'questions', saying('may I?'))
        await stage.heard('yes', answers)
        await stage.publish(first, 'later', saying('there you are'))
        await stage.eventually('the handler that a handler subscribed to be called', () => late.length > 0)
        assert.equal(failure, undefined, 'subscribe() and publish() must work inside a handler')
      },
    },
  ],
}
