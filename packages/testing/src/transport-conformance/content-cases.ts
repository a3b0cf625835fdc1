import assert from 'node:assert/strict'
import { CoordinationError } from '@es/coordination-core'
import { rejectionOf } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { saying, type TransportStage } from './transport-stage.js'

type Message = Readonly<Record<string, unknown>>

const LARGE_BYTES = 100_000

const MESSAGES: Readonly<Record<string, Message>> = {
  'an empty object': {},
  'text of all planes': { 'schlüssel 日本語': 'ä — 𝄞 👩‍👩‍👧', 'a lone surrogate': '\ud800', 'control characters': '\u0000\n\r\t"\\' },
  numbers: { values: [0, -1, 0.1, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, Number.MAX_VALUE] },
  'values of every kind': { yes: true, no: false, nothing: null, none: [], empty: '', deep: { er: [{ and: [[{ deeper: 'still' }]] }] } },
  'names of object properties': JSON.parse('{"__proto__": {"is_leader": true}, "constructor": 1, "toString": null}') as Message,
}

/** A message of which the JSON text has exactly `bytes`. */
function sized(bytes: number): { readonly text: string } {
  const empty = JSON.stringify(saying('')).length
  // Not all the same character, so that no part passes for another.
  const text = Array.from({ length: Math.ceil(bytes / 8) }, (_, index) => String(index).padStart(8, '-')).join('')
  return saying(text.slice(0, bytes - empty))
}

async function assertArrives(stage: TransportStage, message: { readonly text: string }): Promise<void> {
  const inbox = await stage.hear(stage.second, 't')
  await stage.publish(stage.first, 't', message)
  await stage.eventually('the message to arrive', () => inbox.messages.length > 0)
  // Not deepEqual(), which would print all of it.
  assert.ok(isDeepStrictEqualTo(message, inbox.messages[0]), 'the message arrived, but changed')
}

function isDeepStrictEqualTo(message: Message, arrived: unknown): boolean {
  return JSON.stringify(message) === JSON.stringify(arrived)
}

function assertTooLarge(error: unknown): void {
  assert.ok(error instanceof CoordinationError, 'a message that is too large must be refused with a CoordinationError')
  assert.equal(error.code, 'message_too_large', 'the code of the CoordinationError')
}

export const contentCases: CaseGroup = {
  name: 'content of messages',
  cases: [
    ...Object.entries(MESSAGES).map(([what, message]) => ({
      name: `delivers ${what} unchanged`,
      async run(stage: TransportStage) {
        const inbox = await stage.hear(stage.second, 't')
        await stage.publish(stage.first, 't', message)
        await stage.eventually('the message to arrive', () => inbox.messages.length > 0)
        assert.deepEqual(inbox.messages[0], message, 'the message must arrive as it was published')
        assert.equal(Object.hasOwn(Object.prototype, 'is_leader'), false, 'a key of a message must not change a prototype')
      },
    })),
    {
      name: 'delivers what the message was when it was published, whatever becomes of the object',
      async run(stage) {
        const inboxes = [await stage.hear(stage.second, 't'), await stage.hear(stage.third, 't')]
        const message = { text: 'before', inner: { list: ['before'] } }
        await stage.publish(stage.first, 't', message)
        message.text = 'after'
        message.inner.list[0] = 'after'
        await stage.heard('before', ...inboxes)
        await stage.publish(stage.first, 't', saying('the end'))
        await stage.heard('the end', ...inboxes)
        for (const { messages } of inboxes)
          assert.deepEqual(messages[0], { text: 'before', inner: { list: ['before'] } }, 'a message changed after it had been published')
      },
    },
    {
      name: 'gives each handler a message of its own, which it may change',
      async run(stage) {
        const { first, second, third } = stage
        const spoil = (message: unknown): void => {
          const changed = message as { text: string; inner: { list: string[] } }
          changed.text = 'spoilt'
          changed.inner.list.push('spoilt')
        }
        const message = { text: 'fresh', inner: { list: ['fresh'] } }
        // Spoilers all around, so that it does not matter who is called first.
        for (const transport of stage.transports) await stage.subscribe(transport, 't', spoil)
        const inboxes = [await stage.hear(second, 't'), await stage.hear(third, 't')]
        for (const transport of stage.transports) await stage.subscribe(transport, 't', spoil)
        await stage.publish(first, 't', message)
        await stage.eventually('the message to arrive', () => inboxes.every(({ messages }) => messages.length > 0))
        for (const { messages } of inboxes)
          assert.deepEqual(
            messages[0],
            { text: 'fresh', inner: { list: ['fresh'] } },
            'a handler sees what another one made of the message',
          )
        assert.deepEqual(message, { text: 'fresh', inner: { list: ['fresh'] } }, 'a handler changed the object that was published')
      },
    },
    {
      name: 'delivers a message of 100 KB whole, or refuses it as too large',
      async run(stage) {
        const message = sized(LARGE_BYTES)
        const inbox = await stage.hear(stage.second, 't')
        const refusal = await stage.publish(stage.first, 't', message).catch((error: unknown) => error)
        if (refusal !== undefined) assertTooLarge(refusal)
        await stage.publish(stage.first, 't', saying('a small one'))
        await stage.heard('a small one', inbox)
        if (refusal === undefined)
          await stage.eventually('the large message to arrive whole', () =>
            inbox.messages.some((heard) => isDeepStrictEqualTo(message, heard)),
          )
        const others = inbox.messages.filter(
          (heard) => !isDeepStrictEqualTo(message, heard) && !isDeepStrictEqualTo(saying('a small one'), heard),
        )
        assert.equal(others.length, 0, 'something arrived that nobody published')
      },
    },
    {
      name: 'delivers a message as large as it says it can',
      needs: ['carriesBytes'],
      run: (stage) => assertArrives(stage, sized(stage.carriesBytes)),
    },
    {
      name: 'refuses a message as large as it says it cannot carry, and goes on',
      needs: ['refusesBytes'],
      async run(stage) {
        const inbox = await stage.hear(stage.second, 't')
        const attempt = stage.publish(stage.first, 't', sized(stage.refusesBytes))
        assertTooLarge(await rejectionOf('publish() of a message that is too large', attempt))
        await stage.publish(stage.first, 't', saying('a small one'))
        await stage.heard('a small one', inbox)
        assert.equal(inbox.messages.length, 1, 'a message arrived that was refused')
      },
    },
    {
      name: 'rejects what JSON cannot hold, and goes on',
      async run(stage) {
        const inbox = await stage.hear(stage.second, 't')
        const cycle: Record<string, unknown> = {}
        cycle.itself = cycle
        for (const [what, message] of Object.entries({ 'a cycle': cycle, 'a bigint': { count: 1n } }))
          await rejectionOf(`publish() of ${what}`, stage.publish(stage.first, 't', message))
        await stage.publish(stage.first, 't', saying('good'))
        await stage.heard('good', inbox)
        assert.equal(inbox.messages.length, 1, 'a message arrived that was refused')
      },
    },
  ],
}
