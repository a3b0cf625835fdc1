import { messagesOn } from './message-nouns.js'
import type { ScenarioStep } from './scenario.js'
import { enumerate } from './transcript.js'

/** What a step does, in words. */
export function describeStep(step: ScenarioStep): string {
  const lasting = 'forSeconds' in step && step.forSeconds !== undefined ? ` for ${seconds(step.forSeconds)}` : ''
  return `${wordsOf(step)}${lasting}`
}

function wordsOf(step: ScenarioStep): string {
  switch (step.do) {
    case 'start':
      return ['starts', ...clockWords(step)].join(', ')
    case 'stop':
      return `is asked to leave${step.drainSeconds === undefined ? '' : ` within ${seconds(step.drainSeconds)}`}`
    case 'restart':
      return `is asked to leave and start again${step.downSeconds ? ` ${seconds(step.downSeconds)} later` : ''}`
    case 'crash':
      return `${step.isSilent ? 'loses power' : 'is killed'}${step.downSeconds === undefined ? '' : ` and starts again ${seconds(step.downSeconds)} later`}`
    case 'pause':
      return 'is paused'
    case 'resume':
      return 'is resumed'
    case 'jump_clock':
      return `wall clock jumps by ${seconds(step.bySeconds)}`
    case 'drift':
      return `clocks run at a rate of ${step.rate} from now on`
    case 'end_session':
      return 'session with the backend is ended by an administrator'
    case 'cut_bus':
      return 'loses its connection to the others'
    case 'partition':
      return `network splits: ${step.groups.map((group) => enumerate(group)).join(' | ')}`
    case 'bad_network':
      return `network ${[...networkWords(step)].join(', ')}`
    case 'bad_backend':
      return `backend ${[...backendWords(step)].join(', ')}`
    case 'restart_backend':
      return 'backend goes down'
    case 'misbehave':
      return `runs of ${step.subscription ?? 'everything'} ${MISBEHAVIOURS[step.how]}`
    case 'heal':
      return 'all faults end'
    case 'wait':
      return 'nothing is done'
  }
}

const MISBEHAVIOURS = {
  throws: 'throw',
  returns: 'return by themselves',
  is_slow: 'are slow to end',
  ignores: 'ignore that they are told to end',
  writes_on: 'write on after their claim is lost',
}

function* clockWords({ skewSeconds = 0, rate = 1 }: { readonly skewSeconds?: number; readonly rate?: number }): Generator<string> {
  if (skewSeconds !== 0) yield `wall clock off by ${seconds(skewSeconds)}`
  if (rate !== 1) yield `clocks at a rate of ${rate}`
}

function* networkWords(step: Extract<ScenarioStep, { do: 'bad_network' }>): Generator<string> {
  const { loss = 0, repeat = 0, jitterSeconds = 0, delaySeconds = 0, from, to, topic } = step
  if (loss > 0) yield `loses ${percent(loss)}`
  if (repeat > 0) yield `repeats ${percent(repeat)}`
  if (delaySeconds > 0) yield `delays by ${seconds(delaySeconds)}`
  if (jitterSeconds > 0) yield `delays by up to ${seconds(jitterSeconds)}`
  const which = [topic && messagesOn(topic), from && `from ${from}`, to && `to ${to}`].filter(Boolean)
  if (which.length > 0) yield `only ${which.join(' ')}`
}

function* backendWords(step: Extract<ScenarioStep, { do: 'bad_backend' }>): Generator<string> {
  if (step.slowSeconds) yield `is slower by up to ${seconds(step.slowSeconds)}`
  if (step.refuses) yield 'refuses'
  if (step.lateSeconds) yield `answers ${seconds(step.lateSeconds)} late`
  if (step.isCut) yield 'cannot be reached'
}

function seconds(value: number): string {
  return `${value} s`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
