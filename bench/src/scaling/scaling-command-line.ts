import { parseArgs } from 'node:util'

/** What `pnpm bench scaling` is asked to do. */
export interface ScalingCommandLine {
  /** Whether to write the record, the charts and the document. */
  readonly isRecord: boolean
  /** Where to write the results too; `null` for nowhere. */
  readonly json: string | null
  /** Leaves out what is larger. */
  readonly largest: number
  readonly mostSubscriptions: number
  /** Leaves out what needs a server. */
  readonly isSimulatedOnly: boolean
}

export const SCALING_USAGE = `Usage: pnpm bench scaling [--largest N] [--most-subscriptions N] [--simulated] [--json FILE] | --record

--largest             leaves out clusters of more instances than N
--most-subscriptions  leaves out clusters with more subscriptions than N
--simulated           leaves out what needs a server
--json                where to write the results
--record              measures everything, and writes bench/scaling.json, the charts in docs/ and the figures in docs/scaling.md`

/** @throws TypeError for an option that is not known, is no number, or makes no sense beside another. */
export function parseScalingCommandLine(args: readonly string[]): ScalingCommandLine {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { largest: text, 'most-subscriptions': text, simulated: flag, json: text, record: flag },
  })
  const isPart = values.largest !== undefined || values['most-subscriptions'] !== undefined || values.simulated === true
  if (values.record && isPart) throw new TypeError('--record measures everything: leave nothing out')
  return {
    isRecord: values.record === true,
    json: values.json ?? null,
    largest: limit('largest', values.largest),
    mostSubscriptions: limit('most-subscriptions', values['most-subscriptions']),
    isSimulatedOnly: values.simulated === true,
  }
}

function limit(name: string, text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  const value = Number(text)
  if (!(/^\d+$/.test(text) && value >= 1)) throw new TypeError(`--${name} must be a whole number of at least 1, got ${text}`)
  return value
}
