import { FaultProxy } from '@es/coordination-testing'
import type { Janitor } from './janitor.js'
import { NetworkNamespace } from './network-namespace.js'

/** The way from one worker to the server. */
export interface Link extends AsyncDisposable {
  /** Connection string for the worker in this place. */
  readonly connection: string
  /** Command and arguments to put in front of the worker's program. */
  readonly prefix: readonly string[]
  /** `null` where the link is a network of its own. */
  readonly proxy: FaultProxy | null
  /** Takes the link down, or up again. */
  plug(isPlugged: boolean): Promise<void>
}

/** Through a proxy. Its link goes down as a black hole does. */
export async function openProxyLink(serverUrl: string): Promise<Link> {
  const proxy = await FaultProxy.start({ port: Number(new URL(serverUrl).port) })
  const connection = new URL(serverUrl)
  connection.port = String(proxy.port)
  return {
    connection: connection.href,
    prefix: [],
    proxy,
    async plug(isPlugged) {
      if (isPlugged) proxy.heal()
      else proxy.blackhole()
    },
    [Symbol.asyncDispose]: () => proxy.close(),
  }
}

/** Through a virtual cable. @throws Error where network namespaces cannot be made. */
export async function openNamespaceLink(serverUrl: string, number: number, janitor: Janitor): Promise<Link> {
  const namespace = await NetworkNamespace.make(number, janitor)
  return {
    connection: serverUrl,
    prefix: namespace.prefix,
    proxy: null,
    plug: (isPlugged) => namespace.plug(isPlugged),
    [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
  }
}
