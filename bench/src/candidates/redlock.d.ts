// The package has types, but its `exports` do not lead to them. What is used of them here:
declare module 'redlock' {
  import type { EventEmitter } from 'node:events'
  import type { Redis } from 'ioredis'

  // biome-ignore lint/style/noDefaultExport: as the package has it.
  export default class Redlock extends EventEmitter {
    constructor(clients: Iterable<Redis>)
    using<T>(resources: string[], duration: number, routine: (signal: AbortSignal) => Promise<T>): Promise<T>
  }
}
