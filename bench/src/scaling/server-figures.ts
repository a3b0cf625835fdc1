/** What notifications cost a real server and its clients, with so many who listen. Seconds are of processor time. */
export interface FanOutFigures {
  readonly listeners: number
  /** Of the server, for each listener that a notification reaches. */
  readonly serverSecondsHeard: number
  /** Of the server, for each connection that listens to something else and is woken up all the same. */
  readonly serverSecondsWoken: number
  /** Of a client, for each notification that it hears: the driver, and JSON. */
  readonly clientSecondsHeard: number
}

/** What a cluster of real workers on a real server costs while nothing changes, in a second. Seconds are of processor time. */
export interface WorkersFigures {
  readonly instances: number
  readonly subscriptions: number
  readonly serverSeconds: number
  readonly statements: number
  readonly connections: number
  /** Of all instances together. */
  readonly clientSeconds: number
}
