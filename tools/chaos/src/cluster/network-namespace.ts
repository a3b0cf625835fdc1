import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Janitor } from './janitor.js'

const run = promisify(execFile)

// A private range that hardly anybody uses; each namespace takes four addresses of it.
const ADDRESSES = '10.213'
export const NAMESPACE_NETWORK = `${ADDRESSES}.0.0/16`
const LOOPBACK = '127.0.0.1'

/**
 * A network of its own for one process, joined to this machine by one virtual cable. In it, 127.0.0.1 leads through the cable to this machine's own, so
 * servers go on listening there alone.
 */
export class NetworkNamespace implements AsyncDisposable {
  readonly name: string
  readonly #cable: string
  readonly #janitor: Janitor

  /** @throws Error where namespaces cannot be made, for want of root, of the `ip` program or of the kernel's permission. */
  static async make(number: number, janitor: Janitor): Promise<NetworkNamespace> {
    const namespace = new NetworkNamespace(number, janitor)
    janitor.watch('namespace', namespace.name)
    try {
      await namespace.#make(number)
      return namespace
    } catch (error) {
      await namespace[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(number: number, janitor: Janitor) {
    this.name = `es-chaos-${process.pid}-${number}`
    // Names of interfaces have at most 15 characters.
    this.#cable = `esc${process.pid % 1_000_000}n${number}`
    this.#janitor = janitor
  }

  /** The command and arguments that run a program in it, in front of the program. */
  get prefix(): readonly [string, ...string[]] {
    return ['ip', 'netns', 'exec', this.name]
  }

  /** Takes the cable out of the machine's end, or puts it in again: nothing gets through in between, and nobody is told. */
  async plug(isPlugged: boolean): Promise<void> {
    await run('ip', ['link', 'set', this.#cable, isPlugged ? 'up' : 'down'])
  }

  /** Removes it; what is still running in it has no network any more. Idempotent, never rejects. */
  async [Symbol.asyncDispose](): Promise<void> {
    await run('ip', ['netns', 'delete', this.name]).catch(() => {})
    // Goes with the namespace, but only when its last process has ended.
    await run('ip', ['link', 'delete', this.#cable]).catch(() => {})
    this.#janitor.forget('namespace', this.name)
  }

  async #make(number: number): Promise<void> {
    // Two runs on one machine should not share addresses; where they would, the second cannot make its own, and does without.
    const subnet = `${ADDRESSES}.${process.pid % 256}`
    const [here, there] = [`${subnet}.${number * 4 + 1}`, `${subnet}.${number * 4 + 2}`]
    const inside = (...args: string[]): Promise<unknown> => run('ip', ['-netns', this.name, ...args])
    await run('ip', ['netns', 'add', this.name])
    await run('ip', ['link', 'add', this.#cable, 'type', 'veth', 'peer', 'name', 'cable', 'netns', this.name])
    await run('ip', ['address', 'add', `${here}/30`, 'dev', this.#cable])
    await run('ip', ['link', 'set', this.#cable, 'up'])
    await inside('link', 'set', 'cable', 'up')
    await inside('address', 'add', `${there}/30`, 'dev', 'cable')
    // Addresses of the loopback interface do not leave it otherwise.
    await run('sysctl', ['-qw', `net.ipv4.conf.${this.#cable}.route_localnet=1`])
    await run('ip', ['netns', 'exec', this.name, 'sysctl', '-qw', 'net.ipv4.conf.cable.route_localnet=1'])
    await inside('route', 'add', `${LOOPBACK}/32`, 'via', here, 'dev', 'cable', 'src', there)
  }
}
