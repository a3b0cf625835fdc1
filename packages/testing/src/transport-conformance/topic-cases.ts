import assert from 'node:assert/strict'
import type { CaseGroup } from './case-group.js'
import { saying, type TransportStage, textOf } from './transport-stage.js'

/** Every topic must be heard by its own subscriber, and by no other. */
async function assertKeptApart(stage: TransportStage, topics: readonly string[]): Promise<void> {
  const inboxes = []
  for (const topic of topics) inboxes.push(await stage.hear(stage.second, topic))
  for (const [index, topic] of topics.entries()) await stage.publish(stage.first, topic, saying(`on topic ${index}`))
  for (const [index, inbox] of inboxes.entries()) {
    await stage.heard(`on topic ${index}`, inbox)
  }
  for (const [index, { messages }] of inboxes.entries()) {
    const strays = messages.map(textOf).filter((text) => text !== `on topic ${index}`)
    assert.deepEqual(strays, [], `the subscriber of ${JSON.stringify(topics[index])} got what was published elsewhere`)
  }
}

export const topicCases: CaseGroup = {
  name: 'topics',
  cases: [
    {
      name: 'delivers what is published on the topic asked for, and nothing else',
      run: (stage) => assertKeptApart(stage, ['orders', 'payments', 'shipments']),
    },
    {
      name: 'takes topics of any spelling',
      run: (stage) =>
        assertKeptApart(stage, [
          '__eventsource_coordination.heartbeat',
          'with space',
          "quo'te",
          'quo"te',
          'späte Aufträge',
          '注文 🎉',
          '-1',
          '%s',
          '$1',
        ]),
    },
    {
      name: 'keeps topics apart that differ in case, in a separator or in a part',
      run: (stage) => assertKeptApart(stage, ['a.b', 'A.b', 'a_b', 'a-b', 'a b', 'ab', 'a', 'a.b.c', 'a.*', '*', 'a.b ']),
    },
    {
      name: 'keeps long topics apart that differ in their first or last character alone',
      run: (stage) => {
        const long = 'long.topic.'.repeat(18)
        return assertKeptApart(stage, [`a${long}a`, `b${long}a`, `a${long}b`])
      },
    },
    {
      name: 'takes names of object properties as topics',
      run: (stage) => assertKeptApart(stage, ['__proto__', 'constructor', 'toString', 'hasOwnProperty']),
    },
  ],
}
