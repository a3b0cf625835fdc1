import { ConnectionError } from '@es/coordination-core'

/** The way of requests to a backend: in order and one turn of the event loop long; it can hang, and cut one off. */
export class FakeChannel {
  readonly #cutOff = new Set<object>()
  #requests: { readonly from: object; readonly arrive: () => void }[] = []
  #isHanging = false

  /** Sends a request; the returned function takes it back if it has not arrived. */
  send(from: object, arrive: () => void): () => void {
    const request = { from, arrive }
    this.#requests.push(request)
    setImmediate(() => this.#deliver())
    return () => {
      this.#requests = this.#requests.filter((other) => other !== request)
    }
  }

  /** Sends a request that is answered as soon as it arrives, and taken back when nobody waits for it any more. */
  async ask<T>(from: object, request: () => T, timeoutSeconds: number, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    return await new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        takeBack()
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        act()
      }
      const onAbort = (): void => settle(() => reject(signal?.reason))
      const onTimeout = (): void => settle(() => reject(new ConnectionError('timed_out', `no answer within ${timeoutSeconds} s`)))
      const takeBack = this.send(from, () => settle(() => resolve(request())))
      const timer = setTimeout(onTimeout, timeoutSeconds * 1000)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  hang(): () => Promise<void> {
    this.#isHanging = true
    return async () => {
      this.#isHanging = false
      this.#deliver()
    }
  }

  cutOff(from: object): () => Promise<void> {
    this.#cutOff.add(from)
    return async () => {
      this.#cutOff.delete(from)
      this.#deliver()
    }
  }

  #deliver(): void {
    if (this.#isHanging) return
    const arriving = this.#requests.filter(({ from }) => !this.#cutOff.has(from))
    this.#requests = this.#requests.filter(({ from }) => this.#cutOff.has(from))
    for (const { arrive } of arriving) arrive()
  }
}
