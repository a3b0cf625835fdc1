import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { Hearing } from './hearing.js'

function setUp(): { clock: ManualClock; hearing: Hearing } {
  const clock = new ManualClock()
  return { clock, hearing: new Hearing({ clock, unsureAfterSeconds: 7.5, deafAfterSeconds: 13.5, recoverySeconds: 6 }) }
}

it('says nothing on a transport that never returns own messages', async () => {
  const { clock, hearing } = setUp()
  await clock.advance(1000)
  expect(hearing).toMatchObject({ isUnsure: false, whyDeaf: null, deafInSeconds: Number.POSITIVE_INFINITY })
})

it('is unsure beyond half a timeout without an own message, deaf beyond most of one, and each only beyond (A9)', async () => {
  const { clock, hearing } = setUp()
  hearing.heardSelf()
  await clock.advance(7.5)
  expect(hearing).toMatchObject({ isUnsure: false, whyDeaf: null })
  expect(hearing.deafInSeconds).toBeCloseTo(6.001, 6)
  await clock.advance(0.001)
  expect(hearing).toMatchObject({ isUnsure: true, whyDeaf: null })
  await clock.advance(5.999)
  expect(hearing.whyDeaf).toBe(null)
  await clock.advance(hearing.deafInSeconds)
  expect(hearing).toMatchObject({
    whyDeaf: 'This instance has not even heard its own messages for 14 s',
    deafInSeconds: Number.POSITIVE_INFINITY,
  })
})

it('listens once after it hears again, and not anew with every message', async () => {
  const { clock, hearing } = setUp()
  hearing.heardSelf()
  await clock.advance(10)
  for (let second = 0; second < 6; second++) {
    hearing.heardSelf()
    expect(hearing.isUnsure).toBe(true)
    await clock.advance(1)
  }
  expect(hearing.isUnsure).toBe(false)
})

it('listens after messages may have been missed', async () => {
  const { clock, hearing } = setUp()
  hearing.heardSelf()
  hearing.missed()
  expect(hearing.isUnsure).toBe(true)
  await clock.advance(6)
  expect(hearing.isUnsure).toBe(false)
})
