import { errorMessage } from '@es/coordination-core'
import { SLOTS } from '../plan/schedule.js'
import { admitNetwork, type Store } from '../store.js'
import type { Janitor } from './janitor.js'
import { type Link, openNamespaceLink, openProxyLink } from './link.js'
import { NAMESPACE_NETWORK } from './network-namespace.js'

/** The links of all slots. */
export class Links implements AsyncDisposable {
  readonly all: Link[] = []

  /** Opens one for each slot. Where network namespaces cannot be made, `say` is told, and proxies take their place. */
  async open({ url, adminUrl }: Store, janitor: Janitor, say: (text: string) => void): Promise<void> {
    let canIsolate = true
    for (const [slot, { network }] of SLOTS.entries()) {
      if (network === 'namespace' && canIsolate) {
        try {
          this.all.push(await openNamespaceLink(url, slot, janitor))
          continue
        } catch (error) {
          canIsolate = false
          say(`Network namespaces are not possible here; "link down" is a black hole in a proxy instead: ${errorMessage(error).trim()}`)
        }
      }
      this.all.push(await openProxyLink(url))
    }
    if (!this.all.some(({ proxy }) => proxy === null)) return
    await admitNetwork(adminUrl, NAMESPACE_NETWORK)
    say('Some workers have a network of their own, whose link can be taken down')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((link) => link[Symbol.asyncDispose]()))
  }
}
