import { expect, it } from 'vitest'
import { judge, limitText, unmeasured } from '../../bench/harness/goals.js'
import { inRounds, seriesOf } from '../../bench/harness/rounds.js'
import { median, quantile, rounded, spreadOf, spreadText } from '../../bench/harness/statistics.js'

const rounds = [
  new Map([
    ['none', { cpu: 10 }],
    ['ours', { cpu: 12 }],
    ['theirs', { cpu: 14 }],
  ]),
  new Map([
    ['none', { cpu: 100 }],
    ['ours', { cpu: 105 }],
    ['theirs', { cpu: 120 }],
  ]),
]

it('the middle of an even number of values is between the two in the middle', () => {
  expect(median([4, 1, 3])).toBe(3)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([])).toBeNaN()
})

it('a quantile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)]).toEqual([
    50, 99, 100,
  ])
  expect(quantile([], 0.99)).toBeNaN()
})

it('a spread is the least, the middle and the greatest', () => {
  expect(spreadOf([3, 1, 2])).toEqual({ least: 1, middle: 2, greatest: 3 })
  expect(spreadOf([])).toBeNull()
  expect(spreadText([0.12345, 1.2345, 12.345])).toBe('0.123 / 1.23 / 12.3')
  expect(spreadText([])).toBe('-')
  expect([rounded(1234.5), rounded(0), rounded(Number.NaN)]).toEqual(['1235', '0.00', '-'])
})

it('ratios compare two contenders within one round', () => {
  const series = seriesOf(rounds)
  expect(series.values('cpu', 'ours')).toEqual([12, 105])
  expect(series.ratios('cpu', 'ours', 'none')).toEqual([1.2, 1.05])
  expect(series.added('cpu', 'ours', 'none')).toEqual([2, 5])
  expect(series.addedRatios('cpu', 'ours', 'theirs', 'none')).toEqual([0.5, 0.25])
})

it('there is no ratio to what was not measured', () => {
  const series = seriesOf(rounds)
  expect(series.ratios('cpu', 'ours', 'a peer that is not installed')).toEqual([])
  expect(series.ratios('rate', 'ours', 'none')).toEqual([])
})

it('contenders take turns, each round starts with another, and the best slice stands for a round', async () => {
  const asked: string[] = []
  const values = { a: [5, 3, 4, 9], b: [50, 70, 60, 10] }
  const series = await inRounds({
    rounds: 2,
    slices: 2,
    rates: ['rate'],
    contenders: ['a', 'b'],
    async measure(contender) {
      asked.push(contender)
      const value = (contender === 'a' ? values.a : values.b).shift() ?? Number.NaN
      return { cpu: value, rate: value }
    },
  })
  expect(asked.join('')).toBe('ababbaba')
  expect(series.values('cpu', 'a')).toEqual([3, 4])
  expect(series.values('rate', 'b')).toEqual([70, 60])
})

it('the median is held against the limit, and a miss says by how much', () => {
  const what = 'CPU'
  expect(judge({ what, values: [1, 2, 9], atMost: 2 })).toMatchObject({ verdict: 'met', by: '' })
  expect(judge({ what, values: [1, 3, 9], atMost: 2 })).toMatchObject({
    verdict: 'missed',
    by: '50.0 % over',
  })
  expect(judge({ what, values: [0.5], atLeast: 1 })).toMatchObject({
    verdict: 'missed',
    by: '50.0 % short',
  })
  expect(judge({ what, values: [2], atLeast: 2 })).toMatchObject({ verdict: 'met' })
  expect(judge({ what, values: [2] })).toMatchObject({ verdict: 'reported' })
})

it('what was not measured, or is no number, is missed', () => {
  const what = 'CPU'
  expect(judge({ what, values: [], atMost: 2 })).toMatchObject({
    verdict: 'missed',
    by: 'not measured',
  })
  expect(judge({ what, values: [] })).toMatchObject({ verdict: 'missed' })
  expect(judge({ what, values: [Number.NaN], atMost: 2 })).toMatchObject({
    verdict: 'missed',
    by: 'not a number',
  })
  expect(unmeasured(['P1', 'P2'], [{ goal: 'P1', what, values: [1] }])).toEqual(['P2'])
})

it('a limit is written with its side and unit', () => {
  const figure = { what: 'memory', values: [1] }
  expect(limitText({ ...figure, atMost: 64, unit: 'MiB' })).toBe('≤ 64 MiB')
  expect(limitText({ ...figure, atLeast: 1 / 3 })).toBe('≥ 0.333')
  expect(limitText(figure)).toBe('')
})
