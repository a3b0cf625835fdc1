import { FaultProxy } from '@es/coordination-testing'
import { through } from './test-election.test.harness.js'

/** Ways to one database, each through a proxy of its own that can misbehave. */
export class Proxies {
  readonly urls: readonly string[]
  readonly #proxies: readonly FaultProxy[]

  static async to(url: string, count: number): Promise<Proxies> {
    const { hostname: host, port } = new URL(url)
    return new Proxies(url, await Promise.all(Array.from({ length: count }, () => FaultProxy.start({ host, port: Number(port) }))))
  }

  private constructor(url: string, proxies: readonly FaultProxy[]) {
    this.#proxies = proxies
    this.urls = proxies.map((proxy) => through(url, proxy))
  }

  /** Loses all answers; the returned function ends that. */
  async hang(): Promise<() => Promise<void>> {
    for (const proxy of this.#proxies) proxy.blackhole('toClient')
    return async () => this.heal()
  }

  /** Loses everything on the way with this index; the returned function ends that. */
  async blackhole(index: number): Promise<() => Promise<void>> {
    this.#proxies[index]!.blackhole()
    return async () => this.heal()
  }

  /** Ends the connections on the way with this index, and refuses new ones until the returned function is called. */
  async disconnect(index: number): Promise<() => Promise<void>> {
    const proxy = this.#proxies[index]!
    proxy.refuse()
    proxy.cut()
    return () => proxy.accept()
  }

  heal(): void {
    for (const proxy of this.#proxies) proxy.heal()
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
  }
}
