import { median, quantile } from '../../bench/harness/statistics.js'

const minute = 60_000
const megabyte = 1024 * 1024
/**
 * Tables whose rows live for longer than a test, two days at least: no row of them is removed meanwhile, and they have
 * more at its end than at its middle.
 */
const kept = ['audit_records', 'account_deletions', 'denylist']

/** What was seen of the processes at one time. */
export interface SoakSample {
  /** Milliseconds. */
  readonly at: number
  /** Of each process. */
  readonly rssBytes: readonly number[]
  /** Of each process: what is live, and what has not been collected yet. */
  readonly heapBytes: readonly number[]
  /** Sockets, timers and the like, of each process. */
  readonly resources: readonly number[]
  /** To the database, of each process. */
  readonly connections: readonly number[]
  /** By table. */
  readonly rows: Readonly<Record<string, number>>
}

export interface SoakTime {
  readonly at: number
  readonly ms: number
}

/** What changed from the second third of a test to the last; the first is left to caches that fill. */
export interface SoakGrowth {
  /** Megabytes a minute, of each process. */
  readonly memory: readonly number[]
  /** How many more there were at most, of all processes together. */
  readonly resources: number
  /**
   * Tables that have a fifth more rows than before, and twenty more, for as many requests. Of those that keep their rows
   * for longer, the ones that got so many more than before.
   */
  readonly tables: readonly string[]
  /**
   * The 99th percentile of a minute, as a multiple of the one before; the medians of all minutes. A machine that has other
   * work at one time and none at another shows here as well: see `agedBy`.
   */
  readonly p99: number
}

/** How long each request took in one turn, in milliseconds. */
export type Turn = readonly number[]

/**
 * The 99th percentile of processes that have run for long, as a multiple of that of processes that have just started; both
 * were measured in turns. Of each, the quarter of the turns that is fastest decides: other work of the machine makes a
 * turn slower and never faster.
 */
export function agedBy(turns: { readonly aged: readonly Turn[]; readonly fresh: readonly Turn[] }) {
  const usual = (of: readonly Turn[]) =>
    quantile(
      of.map((turn) => quantile(turn, 0.99)),
      0.25,
    )
  return usual(turns.aged) / usual(turns.fresh)
}

export function soakGrowth(samples: readonly SoakSample[], times: readonly SoakTime[]): SoakGrowth {
  const [before, after] = lastThirds(samples)
  // A computer that had other work to do let fewer people in, who have fewer sessions.
  const more = Math.max(1, requestsIn(after, times) / requestsIn(before, times))
  const [timesBefore, timesAfter] = lastThirds(times)
  const mostResources = (of: readonly SoakSample[]) =>
    Math.max(...of.map(({ resources }) => resources.reduce((sum, one) => sum + one, 0)))
  return {
    memory: memoryOf([...before, ...after]),
    resources: mostResources(after) - mostResources(before),
    tables: tablesThatGrew(before, after, more),
    p99: usualP99(timesAfter) / usualP99(timesBefore),
  }
}

function lastThirds<T>(all: readonly T[]): readonly [readonly T[], readonly T[]] {
  const third = Math.floor(all.length / 3)
  return [all.slice(third, 2 * third), all.slice(2 * third)]
}

function memoryOf(samples: readonly SoakSample[]): readonly number[] {
  const processes = samples[0]?.rssBytes.length ?? 0
  return Array.from({ length: processes }, (_, index) =>
    slope(samples.map(({ at, rssBytes }) => [at / minute, (rssBytes[index] ?? 0) / megabyte])),
  )
}

/** Of the line that fits these points best. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(points.map((point) => point[0]))
  const y = mean(points.map((point) => point[1]))
  const both = points.map((point) => (point[0] - x) * (point[1] - y))
  const squares = points.map((point) => (point[0] - x) ** 2)
  return mean(both) / mean(squares)
}

function requestsIn(samples: readonly SoakSample[], times: readonly SoakTime[]): number {
  const [from = 0, to = 0] = [samples[0]?.at, samples.at(-1)?.at]
  return times.filter(({ at }) => at >= from && at <= to).length
}

function tablesThatGrew(
  before: readonly SoakSample[],
  after: readonly SoakSample[],
  more: number,
): readonly string[] {
  return Object.keys(after[0]?.rows ?? {}).filter((table) => {
    const keepsRows = kept.some((name) => table.endsWith(name))
    const size = keepsRows ? added : most
    return size(after, table) > size(before, table) * more * 1.2 + 20
  })
}

const most = (of: readonly SoakSample[], table: string): number =>
  Math.max(...of.map(({ rows }) => rows[table] ?? 0))

const added = (of: readonly SoakSample[], table: string): number =>
  (of.at(-1)?.rows[table] ?? 0) - (of[0]?.rows[table] ?? 0)

const usualP99 = (times: readonly SoakTime[]): number => median(p99OfMinutes(times))

/** Milliseconds, of each minute in its order. */
export function p99OfMinutes(times: readonly SoakTime[]): readonly number[] {
  const minutes = new Map<number, number[]>()
  for (const { at, ms } of times) {
    const of = minutes.get(Math.floor(at / minute)) ?? []
    of.push(ms)
    minutes.set(Math.floor(at / minute), of)
  }
  return [...minutes.values()].map((of) => quantile(of, 0.99))
}
