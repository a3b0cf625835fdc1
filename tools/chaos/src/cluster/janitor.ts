import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

// It outlives this process by design: when its input ends, which happens however this process ends (SIGKILL included), it kills what is left. A worker
// that was stopped at that moment would otherwise stand still for ever. Being detached, it does not get a terminal's Ctrl-C.
const SCRIPT = `
pids= namespaces=
without() {
  kept=
  for each in $1; do [ "$each" = "$2" ] || kept="$kept $each"; done
}
while read -r verb name; do
  case $verb in
    process) pids="$pids $name" ;;
    ended) without "$pids" "$name"; pids=$kept ;;
    namespace) namespaces="$namespaces $name" ;;
    removed) without "$namespaces" "$name"; namespaces=$kept ;;
  esac
done
for each in $pids; do kill -KILL "$each"; done
for each in $namespaces; do ip netns delete "$each"; done
`

/** A shell process that ends the processes and removes the network namespaces of this one, whatever becomes of it. */
export class Janitor implements AsyncDisposable {
  readonly #process: ChildProcess

  constructor() {
    this.#process = spawn('/bin/sh', ['-c', SCRIPT, 'chaos-janitor'], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    this.#process.stdin?.on('error', () => {})
  }

  watch(what: 'process' | 'namespace', name: string | number): void {
    this.#process.stdin?.write(`${what} ${name}\n`)
  }

  /** It has ended, or was removed, in order. */
  forget(what: 'process' | 'namespace', name: string | number): void {
    this.#process.stdin?.write(`${what === 'process' ? 'ended' : 'removed'} ${name}\n`)
  }

  /** Cleans up at once. Resolves when that is done. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.stdin?.end()
    await ended
  }
}
