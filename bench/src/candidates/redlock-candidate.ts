import { Redis } from 'ioredis'
import Redlock from 'redlock'
import type { Candidate, Meeting } from './candidate.js'

/** The duration of the package's own example, in milliseconds. */
const DURATION = 5000

/**
 * The npm package `redlock` as one would elect a leader with it: its default settings, automatic extension (`using`), and another call when the retries of
 * one are used up.
 */
export function redlockCandidate({ election, connection }: Meeting): Candidate {
  const redlock = new Redlock([new Redis(connection)])
  // A refusal is reported here too, at every attempt.
  redlock.on('error', () => {})
  let release = (): void => {}
  let released: Promise<void> = Promise.resolve()
  return {
    async lead() {
      await new Promise<void>((lead) => {
        const leading = async (): Promise<void> => {
          lead()
          await new Promise<void>((resolve) => {
            release = resolve
          })
        }
        const keepTrying = async (): Promise<void> => {
          let hasLed = false
          while (!hasLed) {
            await redlock
              .using([election], DURATION, () => {
                hasLed = true
                return leading()
              })
              .catch(() => {})
          }
        }
        released = keepTrying()
      })
    },
    async release() {
      release()
      await released
    },
  }
}
