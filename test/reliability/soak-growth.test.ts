import { expect, it } from 'vitest'
import { agedBy, type SoakSample, soakGrowth } from './soak-growth.js'

const minute = 60_000
const megabyte = 1024 * 1024
const count = 30

/** Half an hour, a sample a minute, of two processes that stay as they are but for what is given. */
function samples(changed: (n: number) => Partial<SoakSample> = () => ({})): readonly SoakSample[] {
  return Array.from({ length: count }, (_, n) => ({
    at: n * minute,
    rssBytes: [100 * megabyte, 90 * megabyte],
    heapBytes: [50 * megabyte, 45 * megabyte],
    resources: [20, 21],
    connections: [5, 5],
    rows: { client_intents: 100, client_audit_records: 10 * n, postern_denylist: 50 * n },
    ...changed(n),
  }))
}

/** A hundred requests a minute, of which each twentieth takes ten times as long. */
function times(usual: (n: number) => number = () => 10) {
  return Array.from({ length: count * 100 }, (_, n) => {
    const ms = usual(Math.floor(n / 100))
    return { at: n * 600, ms: n % 20 === 0 ? ms * 10 : ms }
  })
}

it('a process that stays as it is does not grow', () => {
  expect(soakGrowth(samples(), times())).toEqual({
    memory: [0, 0],
    resources: 0,
    tables: [],
    p99: 1,
  })
})

it('memory that grows shows by process, and not where it grew in the first third alone', () => {
  const leaks = samples((n) => ({ rssBytes: [(100 + 2 * n) * megabyte, 90 * megabyte] }))
  expect(soakGrowth(leaks, times()).memory.map(Math.round)).toEqual([2, 0])
  const fills = samples((n) => ({ rssBytes: [Math.min(110, 100 + n) * megabyte, megabyte] }))
  expect(soakGrowth(fills, times()).memory).toEqual([0, 0])
})

it('sockets that are never closed show', () => {
  expect(
    soakGrowth(
      samples((n) => ({ resources: [20 + n, 21] })),
      times(),
    ).resources,
  ).toBe(10)
})

it('a table that is never swept shows, and one that is swept now and then does not', () => {
  const rows = (n: number) => ({ client_intents: 10 * n, postern_counters: 100 * (n % 5) })
  expect(
    soakGrowth(
      samples((n) => ({ rows: rows(n) })),
      times(),
    ).tables,
  ).toEqual(['client_intents'])
})

it('a table whose rows live for longer shows where it gets more of them than before', () => {
  const grows = (late: number) =>
    soakGrowth(
      samples((n) => ({ rows: { postern_denylist: 10 * n + Math.max(0, n - 20) * late } })),
      times(),
    ).tables
  expect([grows(0), grows(3), grows(6)]).toEqual([[], [], ['postern_denylist']])
})

it('a table that has more rows for more requests does not show', () => {
  const third = 10 * minute
  const more = samples((n) => ({ rows: { client_intents: n < 20 ? 100 : 150 } }))
  const often = Array.from({ length: 1500 }, (_, n) => ({ at: 2 * third + n * 400, ms: 10 }))
  const before = times().filter(({ at }) => at < 2 * third)
  expect(soakGrowth(more, [...before, ...often]).tables).toEqual([])
  expect(soakGrowth(more, times()).tables).toEqual(['client_intents'])
})

it('times that grow show', () => {
  expect(
    soakGrowth(
      samples(),
      times((n) => (n < 20 ? 10 : 15)),
    ).p99,
  ).toBe(1.5)
})

it('processes that got slower show beside those that have just started, and a machine with other work does not', () => {
  const turn = (ms: number) => Array.from({ length: 1000 }, (_, n) => (n < 950 ? 1 : ms))
  const fresh = [10, 11, 10, 40, 12, 10, 90, 11].map(turn)
  expect(agedBy({ aged: [60, 10, 11, 10, 10, 12, 10, 13].map(turn), fresh })).toBe(1)
  expect(agedBy({ aged: [60, 20, 22, 20, 20, 24, 20, 26].map(turn), fresh })).toBe(2)
})
