import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryText } from '@es/coordination-testing'
import type { Acknowledged } from '../feed/feed-settings.js'

/** Where everything that a run records is kept: `*.jsonl` are histories, `*.log` what processes printed. */
export class RunFolder {
  readonly root: string

  static async make(): Promise<RunFolder> {
    return new RunFolder(await mkdtemp(join(tmpdir(), `es-chaos-${process.pid}-`)))
  }

  constructor(root: string) {
    this.root = root
  }

  path(name: string): string {
    return join(this.root, name)
  }

  get acknowledgements(): string {
    return this.path('acknowledged.json-lines')
  }

  async histories(): Promise<readonly HistoryText[]> {
    const names = (await readdir(this.root)).filter((name) => name.endsWith('.jsonl')).sort()
    return await Promise.all(names.map(async (name) => ({ name, text: await readFile(this.path(name), 'utf8') })))
  }

  /** What the feed noted. A killed one may have been in the middle of a line, which then does not count. */
  async acknowledged(): Promise<readonly Acknowledged[]> {
    const text = await readFile(this.acknowledgements, 'utf8')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line): Acknowledged => JSON.parse(line))
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.path(name), text)
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true })
  }
}
