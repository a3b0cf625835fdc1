import { closeSync, openSync, writeSync } from 'node:fs'
import { formatHistoryEvent, type HistoryEvent } from '@es/coordination-testing'
import { hostSeconds } from './host-clock.js'

type WithoutTime<Event> = Event extends HistoryEvent ? Omit<Event, 'at'> : never

/** An event whose time is that of its recording. */
export type UnstampedEvent = WithoutTime<HistoryEvent>

/**
 * The recording of one process. Each event is one write to a file opened for appending: what `record` has returned from survives a SIGKILL, and no line
 * is ever torn by one.
 */
export class HistoryFile implements Disposable {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  /** @param at seconds of `hostSeconds`. @default now */
  record(event: UnstampedEvent, at = hostSeconds()): void {
    writeSync(this.#file, formatHistoryEvent({ ...event, at } as HistoryEvent))
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}
