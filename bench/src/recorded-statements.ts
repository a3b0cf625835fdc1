import pg from 'pg'

/** A statement as it was sent: its text, or a query configuration with name, text and values. */
export type SentStatement = string | pg.QueryConfig

/** What went over one connection. */
export interface Recording {
  /** The connection itself, still open and in use by whoever made it. */
  readonly client: pg.Client
  readonly statements: readonly SentStatement[]
}

/**
 * The statements that `work` sends, and on which connection, so that they can be measured without what is around them. They are recorded and not written
 * down here, where they would sooner or later be others.
 *
 * @throws when they went over several connections, or none were sent.
 */
export async function recordStatements(work: () => Promise<unknown>): Promise<Recording> {
  const sent: { readonly client: pg.Client; readonly statement: SentStatement }[] = []
  const { prototype } = pg.Client
  const query = prototype.query
  // Declared with a dozen overloads, of which none is of interest here.
  Reflect.set(prototype, 'query', function record(this: pg.Client, statement: SentStatement, ...rest: unknown[]) {
    sent.push({ client: this, statement })
    return Reflect.apply(query, this, [statement, ...rest])
  })
  try {
    await work()
  } finally {
    Reflect.set(prototype, 'query', query)
  }
  const [client, other] = new Set(sent.map((one) => one.client))
  if (client === undefined || other !== undefined) throw new Error(`${sent.length} statements went over none or several connections`)
  return { client, statements: sent.map(({ statement }) => statement) }
}

/** Another connection to the same place with the same settings as `client`. */
export async function connectAlike(client: pg.Client, connectionString: string): Promise<pg.Client> {
  const { options } = Reflect.get(client, 'connectionParameters') as { readonly options?: string }
  const alike = new pg.Client({ connectionString, keepAlive: true, ...(options === undefined ? {} : { options }) })
  alike.on('error', () => {})
  await alike.connect()
  return alike
}

/** Sends `statement` again, here. A new object each time: the driver writes into the one it is given. */
export function replay(client: pg.Client, statement: SentStatement): Promise<pg.QueryResult> {
  return client.query(typeof statement === 'string' ? statement : { ...statement })
}
