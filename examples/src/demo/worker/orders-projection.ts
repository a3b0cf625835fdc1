import type { ClientBase } from 'pg'

/** One line of the event log. */
export interface OrderEvent {
  readonly position: number
  readonly orderId: string
  readonly type: 'placed' | 'item_added' | 'paid' | 'shipped' | 'cancelled'
  readonly amountCents: number
}

/** What a run of events changes in one order. */
export interface OrderChange {
  readonly orderId: string
  readonly status: string
  readonly items: number
  readonly totalCents: number
  readonly events: number
  readonly lastPosition: number
}

/** What is done with the events of one subscription. */
export interface Projection {
  readonly subscription: string
  /** Applies `events`, which are in order, inside the transaction that `client` is in. */
  apply(client: ClientBase, events: readonly OrderEvent[]): Promise<void>
}

const STATUS: Readonly<Record<OrderEvent['type'], string>> = {
  placed: 'new',
  item_added: 'open',
  paid: 'paid',
  shipped: 'shipped',
  cancelled: 'cancelled',
}

/** The changes that `events` make, one for each order that they touch. */
export function foldOrders(events: readonly OrderEvent[]): OrderChange[] {
  const changes = new Map<string, OrderChange>()
  for (const { orderId, type, amountCents, position } of events) {
    const before = changes.get(orderId)
    changes.set(orderId, {
      orderId,
      status: STATUS[type],
      items: (before?.items ?? 0) + (type === 'item_added' ? 1 : 0),
      totalCents: (before?.totalCents ?? 0) + amountCents,
      events: (before?.events ?? 0) + 1,
      lastPosition: position,
    })
  }
  return [...changes.values()]
}

// It adds, so applying an event twice makes a wrong number: exactly what the demo is about.
const ADD_TO_ORDERS = `
  INSERT INTO orders AS o (order_id, status, items, total_cents, events, last_position)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
  ON CONFLICT (order_id) DO UPDATE
    SET status = excluded.status,
        items = o.items + excluded.items,
        total_cents = o.total_cents + excluded.total_cents,
        events = o.events + excluded.events,
        last_position = excluded.last_position`

/** The read model of the demo: one row an order. */
export const ordersProjection: Projection = {
  subscription: 'orders',
  async apply(client, events) {
    const changes = foldOrders(events)
    const column = <Name extends keyof OrderChange>(name: Name): OrderChange[Name][] => changes.map((change) => change[name])
    await client.query(ADD_TO_ORDERS, [
      column('orderId'),
      column('status'),
      column('items'),
      column('totalCents'),
      column('events'),
      column('lastPosition'),
    ])
  },
}
