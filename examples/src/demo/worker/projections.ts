import type { ClientBase } from 'pg'

/** One line of the event log. */
export interface OrderEvent {
  readonly position: number
  readonly type: 'placed' | 'item_added' | 'paid' | 'shipped' | 'cancelled'
  readonly orderId: string
  readonly customer: string
  readonly product: string
  readonly country: string
  readonly day: string
  readonly amountCents: number
}

/** What is done with the events of one subscription. */
export interface Projection {
  readonly subscription: string
  /** Applies `events`, which are in order, inside the transaction that `client` is in. */
  apply(client: ClientBase, events: readonly OrderEvent[]): Promise<void>
}

/** What a run of events adds to one row of a read model. */
export interface Addition {
  readonly key: string
  readonly events: number
  readonly amountCents: number
  readonly lastPosition: number
}

/** A read model: one row for each value of `by`, counting and summing the events of one type, or of all. */
interface Grouping {
  readonly by: 'orderId' | 'customer' | 'product' | 'country' | 'day' | 'type'
  readonly of: OrderEvent['type'] | null
}

const GROUPINGS: Readonly<Record<string, Grouping>> = {
  'order-totals': { by: 'orderId', of: null },
  'customer-spend': { by: 'customer', of: null },
  'product-sales': { by: 'product', of: 'item_added' },
  'country-revenue': { by: 'country', of: 'item_added' },
  'daily-revenue': { by: 'day', of: 'item_added' },
  'order-funnel': { by: 'type', of: null },
  'new-orders': { by: 'day', of: 'placed' },
  'payments-by-day': { by: 'day', of: 'paid' },
  'payments-by-country': { by: 'country', of: 'paid' },
  'shipments-by-day': { by: 'day', of: 'shipped' },
  'shipments-by-country': { by: 'country', of: 'shipped' },
  'lost-customers': { by: 'customer', of: 'cancelled' },
}

/** The names of all twelve, in the order in which they are shown. */
export const SUBSCRIPTIONS: readonly string[] = Object.keys(GROUPINGS)

/** @throws Error for a subscription that is none of {@link SUBSCRIPTIONS}. */
export function projectionOf(subscription: string): Projection {
  const grouping = GROUPINGS[subscription]
  if (!grouping) throw new Error(`There is no projection ${subscription}`)
  return {
    subscription,
    async apply(client, events) {
      const additions = addUp(grouping, events)
      await client.query(ADD, [
        subscription,
        additions.map(({ key }) => key),
        additions.map((addition) => addition.events),
        additions.map(({ amountCents }) => amountCents),
        additions.map(({ lastPosition }) => lastPosition),
      ])
    },
  }
}

/** What `events` add, one for each key that they touch. */
export function addUp({ by, of }: Grouping, events: readonly OrderEvent[]): Addition[] {
  const additions = new Map<string, Addition>()
  for (const event of events) {
    if (of !== null && event.type !== of) continue
    const key = event[by]
    const before = additions.get(key)
    additions.set(key, {
      key,
      events: (before?.events ?? 0) + 1,
      amountCents: (before?.amountCents ?? 0) + event.amountCents,
      lastPosition: event.position,
    })
  }
  return [...additions.values()]
}

// It adds, so applying an event twice makes a wrong number: exactly what the demo is about.
const ADD = `
  INSERT INTO read_model AS r (subscription, key, events, amount_cents, last_position)
  SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
  ON CONFLICT (subscription, key) DO UPDATE
    SET events = r.events + excluded.events,
        amount_cents = r.amount_cents + excluded.amount_cents,
        last_position = excluded.last_position`
