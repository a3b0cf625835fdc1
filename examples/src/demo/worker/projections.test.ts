import { expect, test } from 'vitest'
import { addUp, type OrderEvent, projectionOf, SUBSCRIPTIONS } from './projections.js'

const event = (position: number, type: OrderEvent['type'], country: string, amountCents = 0): OrderEvent => ({
  ...{ position, type, country, amountCents },
  ...{ orderId: 'order-1', customer: 'customer-1', product: 'product-1', day: 'day-1' },
})

const EVENTS = [event(1, 'placed', 'AT'), event(2, 'item_added', 'BR', 500), event(3, 'item_added', 'AT', 250), event(4, 'paid', 'BR')]

test('adds up the events of each key', () => {
  expect(addUp({ by: 'country', of: null }, EVENTS)).toEqual([
    { key: 'AT', events: 2, amountCents: 250, lastPosition: 3 },
    { key: 'BR', events: 2, amountCents: 500, lastPosition: 4 },
  ])
})

test('leaves out the types that the read model is not about', () => {
  expect(addUp({ by: 'type', of: 'paid' }, EVENTS)).toEqual([{ key: 'paid', events: 1, amountCents: 0, lastPosition: 4 }])
})

test('there are twelve, and no other', () => {
  expect(SUBSCRIPTIONS.map((name) => projectionOf(name).subscription)).toEqual(SUBSCRIPTIONS)
  expect(SUBSCRIPTIONS).toHaveLength(12)
  expect(() => projectionOf('horoscope')).toThrow('There is no projection horoscope')
})
