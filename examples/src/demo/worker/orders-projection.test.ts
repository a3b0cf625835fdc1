import { expect, test } from 'vitest'
import { foldOrders, type OrderEvent } from './orders-projection.js'

const event = (position: number, orderId: string, type: OrderEvent['type'], amountCents = 0): OrderEvent => ({
  position,
  orderId,
  type,
  amountCents,
})

test('adds up what happened to each order, and keeps the last status', () => {
  const changes = foldOrders([
    event(1, 'a', 'placed'),
    event(2, 'b', 'item_added', 500),
    event(3, 'a', 'item_added', 250),
    event(4, 'a', 'item_added', 250),
    event(5, 'b', 'paid'),
  ])
  expect(changes).toEqual([
    { orderId: 'a', status: 'open', items: 2, totalCents: 500, events: 3, lastPosition: 4 },
    { orderId: 'b', status: 'paid', items: 1, totalCents: 500, events: 2, lastPosition: 5 },
  ])
})
