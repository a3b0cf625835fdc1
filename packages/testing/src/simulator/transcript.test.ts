import { expect, it } from 'vitest'
import { formatTranscript, Transcript } from './transcript.js'

it('a transcript reads like minutes, with what is done to several things in one line', () => {
  let now = 0
  const transcript = new Transcript(() => now, true)
  transcript.step('a', 'starts')
  now = 12.35
  transcript.say('a', 'is elected, term 7')
  for (const name of ['s1', 's2', 's3']) transcript.list('a', 'runs', name)
  transcript.list('worker', 'runs', 's4')
  now = 13
  transcript.list('a', 'runs', 's5')
  transcript.step('', 'all faults end')
  expect(formatTranscript(transcript.lines)).toBe(
    [
      '   0.000 >> a       starts',
      '  12.350    a       is elected, term 7',
      '  12.350    a       runs s1, s2, s3',
      '  12.350    worker  runs s4',
      '  13.000    a       runs s5',
      '  13.000 >>         all faults end',
    ].join('\n'),
  )
})

it('a transcript names the first of very many', () => {
  const transcript = new Transcript(() => 0, true)
  for (let number = 1; number <= 20; number++) transcript.list('a', 'runs', `s${number}`)
  expect(transcript.lines[0]?.what).toBe('runs s1, s2, s3, s4, s5, s6, s7, s8 and 12 more')
})

it('a transcript that is not kept stays empty', () => {
  const transcript = new Transcript(() => 0, false)
  transcript.say('a', 'b')
  transcript.list('a', 'b', 'c')
  transcript.step('a', 'b')
  expect(transcript.lines).toEqual([])
})
