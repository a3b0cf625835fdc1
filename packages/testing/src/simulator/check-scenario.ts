import { invalidOption, requireInteger, requireName, requireOptions } from '@es/coordination-core'
import { DEFAULT_TIMINGS, type Scenario, type ScenarioStep, type StepKind } from './scenario.js'
import { MISBEHAVIOURS } from './workload.js'

type Check = (value: unknown) => boolean

const isNumber: Check = (value) => Number.isFinite(value)
const isPositive: Check = (value) => isNumber(value) && (value as number) > 0
const isDuration: Check = (value) => isNumber(value) && (value as number) >= 0
const isShare: Check = (value) => isDuration(value) && (value as number) <= 1
const isFlag: Check = (value) => typeof value === 'boolean'
const isText: Check = (value) => typeof value === 'string'
const isListOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem)

interface FieldRule {
  readonly rule: string
  readonly isFine: Check
}

const DURATION: FieldRule = { rule: 'a number of seconds, at least 0', isFine: isDuration }
const OFFSET: FieldRule = { rule: 'a number of seconds', isFine: isNumber }
const SHARE: FieldRule = { rule: 'a share from 0 to 1', isFine: isShare }
const FLAG: FieldRule = { rule: 'true or false', isFine: isFlag }
const TEXT: FieldRule = { rule: 'a string', isFine: isText }

/** What the fields of steps may hold. */
const FIELDS = {
  ...{ afterSeconds: DURATION, forSeconds: DURATION, drainSeconds: DURATION, downSeconds: DURATION },
  ...{ jitterSeconds: DURATION, delaySeconds: DURATION, slowSeconds: DURATION, lateSeconds: DURATION },
  ...{ skewSeconds: OFFSET, bySeconds: OFFSET, loss: SHARE, repeat: SHARE, isSilent: FLAG, refuses: FLAG, isCut: FLAG },
  ...{ who: TEXT, from: TEXT, to: TEXT, topic: TEXT, subscription: TEXT },
  rate: { rule: 'a number above 0', isFine: isPositive },
  groups: { rule: 'an array of arrays of strings', isFine: isListOf(isListOf(isText)) },
  how: { rule: `one of ${MISBEHAVIOURS.join(', ')}`, isFine: (value) => MISBEHAVIOURS.some((each) => each === value) },
} satisfies Record<string, FieldRule>
type FieldName = keyof typeof FIELDS

/** What each kind of step must have, and what it may have besides `afterSeconds`. */
const STEPS: Readonly<Record<StepKind, { readonly needs: readonly FieldName[]; readonly takes: readonly FieldName[] }>> = {
  start: { needs: ['who'], takes: ['skewSeconds', 'rate'] },
  stop: { needs: ['who'], takes: ['drainSeconds'] },
  restart: { needs: ['who'], takes: ['downSeconds'] },
  crash: { needs: ['who'], takes: ['isSilent', 'downSeconds'] },
  pause: { needs: ['who'], takes: ['forSeconds'] },
  resume: { needs: ['who'], takes: [] },
  jump_clock: { needs: ['who', 'bySeconds'], takes: [] },
  drift: { needs: ['who', 'rate'], takes: [] },
  end_session: { needs: ['who'], takes: [] },
  cut_bus: { needs: ['who'], takes: ['forSeconds'] },
  partition: { needs: ['groups'], takes: ['forSeconds'] },
  bad_network: { needs: [], takes: ['from', 'to', 'topic', 'loss', 'repeat', 'jitterSeconds', 'delaySeconds', 'forSeconds'] },
  bad_backend: { needs: [], takes: ['who', 'slowSeconds', 'refuses', 'lateSeconds', 'isCut', 'forSeconds'] },
  restart_backend: { needs: [], takes: ['forSeconds'] },
  misbehave: { needs: ['how'], takes: ['subscription', 'forSeconds'] },
  heal: { needs: [], takes: [] },
  wait: { needs: [], takes: [] },
}

/**
 * Checks a scenario, which may come from a file.
 *
 * @throws CoordinationError `invalid_options` that names the first thing that is wrong, what it must be and what it is.
 */
export function checkScenario(scenario: Scenario): void {
  const { seed, subscriptions, hasOwnership = true, timings = {}, steps } = requireOptions(scenario)
  requireInteger('scenario.seed', seed)
  if (typeof subscriptions === 'number') requireInteger('scenario.subscriptions', subscriptions)
  else if (Array.isArray(subscriptions)) for (const name of subscriptions) requireName('scenario.subscriptions[]', name)
  else throw invalidOption('scenario.subscriptions', subscriptions, 'how many there are, or their names')
  if (!isFlag(hasOwnership)) throw invalidOption('scenario.hasOwnership', hasOwnership, 'true or false')
  for (const [name, value] of Object.entries(requireOptions(timings))) {
    if (!(name in DEFAULT_TIMINGS)) throw invalidOption('scenario.timings', name, `one of ${Object.keys(DEFAULT_TIMINGS).join(', ')}`)
    if (!isDuration(value)) throw invalidOption(`scenario.timings.${name}`, value, 'a number of seconds, at least 0')
  }
  if (!Array.isArray(steps)) throw invalidOption('scenario.steps', steps, 'an array')
  for (const [index, step] of steps.entries()) checkStep(step, `scenario.steps[${index}]`)
}

function checkStep(step: ScenarioStep, path: string): void {
  const { do: kind, ...fields } = requireOptions(step)
  if (!Object.hasOwn(STEPS, kind)) throw invalidOption(`${path}.do`, kind, `one of ${Object.keys(STEPS).join(', ')}`)
  const { needs, takes } = STEPS[kind]
  const known: readonly FieldName[] = [...needs, ...takes, 'afterSeconds']
  const stranger = Object.keys(fields).find((name) => !known.some((each) => each === name))
  if (stranger !== undefined) throw invalidOption(`a field of ${path}, a step "${kind}",`, stranger, `one of ${known.join(', ')}`)
  for (const name of known) {
    const value = (fields as Readonly<Record<string, unknown>>)[name]
    const { rule, isFine } = FIELDS[name]
    if ((value !== undefined || needs.includes(name)) && !isFine(value)) throw invalidOption(`${path}.${name}`, value, rule)
  }
}
