import type { ServerResponse } from 'node:http'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { expect } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Sweeper } from '../../../src/domain/sweep/sweeper.js'
import { type Collections, collectionsOf } from '../../../src/model/collections.js'
import type { RefreshFamily, Session } from '../../../src/model/sessions.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Clock } from '../../../src/ports/host.js'
import type { Surface } from '../../../src/ports/surface.js'
import { startSweeping } from '../../../src/setup/lifecycle.js'
import { systemRandom } from '../../../src/system/machine.js'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { type FaultyBackend, faultyBackend } from '../../support/stores/faulty-backend.js'

export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes
export const leaseName = 'auth:refresh-sweep'
/** From start-up to the first contention. */
export const untilFirst = 10 * seconds
export const tiers = ['operator', 'client'] as const

/** The statements of a cycle, in their order. */
export const tokenSweeps = tiers.map((tier) => `${tier}_refresh_tokens.sweep`)

/** One process that takes part in the sweep, with a hand on its clock and its connection. */
export interface Replica extends Pick<FaultyBackend, 'calls' | 'failNext' | 'onCall' | 'heal'> {
  readonly sweeper: Sweeper
  readonly logger: ReturnType<typeof recordingLogger>
  readonly clock: FakeClock
  /** How often it sent any of these calls. */
  count(...names: readonly string[]): number
  /** What a Prometheus scrape of this process shows of the sweep: `{ operator: 7000 }`. */
  scrape(): Promise<Readonly<Record<string, number>>>
}

/** Those of accounts need the whole library. */
const nothing = async () => 'done' as const
export const nothingToResume = {
  surfaces: ['operator', 'client'] as const,
  resumeDeletions: nothing,
  resumeNotices: nothing,
}

export function startReplica(
  backend: Backend,
  clock: FakeClock = fakeClock(),
  seenClock: Clock = clock,
): Replica {
  const { backend: faulty, ...hands } = faultyBackend(backend)
  const logger = recordingLogger()
  const exporter = testExporter()
  const meterProvider = new MeterProvider({ readers: [exporter] })
  const given = {
    clock: seenClock,
    random: systemRandom,
    ...nothingToResume,
    logger,
  }
  const deps = { backend: faulty, ...given }
  const sweeper = startSweeping({ meterProvider }, deps)
  return {
    ...hands,
    sweeper,
    logger,
    clock,
    count: (...names) => hands.calls.filter((call) => names.includes(call)).length,
    async scrape() {
      const samples = [...(await scrapeText(exporter)).matchAll(/^\w+\{tier="(\w+)"\} (\d+)$/gm)]
      return Object.fromEntries(samples.map(([, tier = '', value]) => [tier, Number(value)]))
    },
  }
}

/** Answers scrapes handed to it, without a server, and adds no labels of its own. */
export function testExporter(): PrometheusExporter {
  return new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
  })
}

/** The text of one scrape. */
export function scrapeText(exporter: PrometheusExporter): Promise<string> {
  return new Promise((resolve) => {
    const response = { statusCode: 0, setHeader() {}, end: resolve }
    // The exporter touches nothing else of a response, and nothing of the request.
    exporter.getMetricsRequestHandler({} as never, response as unknown as ServerResponse)
  })
}

/** A call that waits until the test lets it go on: `onCall(name, held.hook)`. */
export function heldCall(): { readonly hook: () => Promise<void>; goOn(): Promise<void> } {
  let goOn = (): void => {}
  const gate = new Promise<void>((resolve) => {
    goOn = resolve
  })
  return {
    hook: () => gate,
    async goOn() {
      goOn()
      // What was waiting runs as far as it can.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** The stored documents of one surface, past the library. */
export function stored(backend: Backend, surface: Surface): Collections {
  return collectionsOf(backend.store, surface, '')
}

let made = 0

function newId(): string {
  made += 1
  return `row-${made}`
}

export function family(expiresAt: number, given: Partial<RefreshFamily> = {}): RefreshFamily {
  return {
    id: newId(),
    userId: 'u',
    loginAt: 0,
    sessionEpoch: 0,
    generation: 1,
    rotatedAt: 0,
    rotatedTo: 'jti',
    noReissueUpTo: 0,
    ...{ shown: 0, device: null, byDevice: false },
    rotatedBy: 'digest',
    delivery: 'cookie',
    revokedAt: null,
    revokedReason: null,
    ...given,
    expiresAt,
  }
}

export function session(expiresAt: number, given: Partial<Session> = {}): Session {
  return {
    id: newId(),
    userId: 'u',
    loginAt: 0,
    active: true,
    endedAt: null,
    endReason: null,
    loginMethod: 'password',
    mfaMethod: null,
    ip: null,
    userAgent: null,
    deviceId: null,
    ...given,
    expiresAt,
  }
}

/** Stores `rows` refresh rows of one surface that expire at `expiresAt`. */
export async function fillFamilies(
  backend: Backend,
  surface: Surface,
  rows: number,
  expiresAt: number,
): Promise<void> {
  const { families } = stored(backend, surface)
  const atOnce = 500
  for (let done = 0; done < rows; done += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, rows - done) }, () => family(expiresAt))
    await Promise.all(some.map((row) => families.insert(row)))
  }
}

/** How many refresh rows have expired by `now` and are still there: operator, then client. */
export async function expiredRows(backend: Backend, now: number): Promise<readonly number[]> {
  const due = tiers.map((tier) => stored(backend, tier).families.due(now, 100_000))
  return (await Promise.all(due)).map((rows) => rows.length)
}

/** A store with 20,000 expired refresh rows per tier. */
export async function fullStore(): Promise<Backend> {
  const backend = memory()
  await fillFamilies(backend, 'operator', 20_000, 1)
  await fillFamilies(backend, 'client', 20_000, 1)
  return backend
}

export const ownerOf = async (backend: Backend) => (await backend.lease.read(leaseName))?.owner
export const renewalOf = async (backend: Backend) =>
  (await backend.lease.read(leaseName))?.renewal ?? 0

/** Nobody sweeps or touches the lease until `ms` have passed, and then `replica` contends. */
export async function expectNextContention(replica: Replica, ms: number): Promise<void> {
  const before = replica.calls.length
  await replica.clock.advance(ms - 1)
  expect(replica.calls.slice(before)).toEqual([])
  await replica.clock.advance(1)
  expect(replica.calls[before]).toBe('lease.read')
}
