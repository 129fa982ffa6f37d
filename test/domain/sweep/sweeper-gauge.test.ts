import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { afterEach, describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { startSweeping } from '../../../src/setup/lifecycle.js'
import { systemRandom } from '../../../src/system/machine.js'
import { createBacklogGauge, providersOf } from '../../../src/telemetry/open-telemetry.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import {
  fillFamilies,
  fullStore,
  heldCall,
  minutes,
  nothingToResume,
  scrapeText,
  seconds,
  startReplica,
  testExporter,
  untilFirst,
} from './sweeper-rig.js'

/** Forgets what was not observed anew, as OpenTelemetry asks of every reader. */
class ForgetfulReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA })
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}

  async series(): Promise<readonly (readonly [unknown, unknown])[]> {
    const { resourceMetrics } = await this.collect()
    const points = resourceMetrics.scopeMetrics.flatMap((scope) =>
      scope.metrics.flatMap((metric) => [...metric.dataPoints]),
    )
    return points.map(({ attributes, value }) => [attributes, value] as const)
  }
}

const gauge = 'svc_auth_token_sweep_backlog_estimate'

describe('the gauge', () => {
  it('is a gauge of this name, with one series a tier and no label but tier', async () => {
    const backend = memory()
    await fillFamilies(backend, 'operator', 5001, 1)
    await fillFamilies(backend, 'client', 7003, 1)
    const clock = fakeClock()
    const exporter = testExporter()
    const reader = new ForgetfulReader()
    const meterProvider = new MeterProvider({ readers: [exporter, reader] })
    const logger = recordingLogger()
    const given = { random: systemRandom, ...nothingToResume, logger }
    startSweeping({ meterProvider }, { backend, clock, ...given })
    await clock.advance(untilFirst)
    const lines = (await scrapeText(exporter)).trim().split('\n')
    expect(lines.map((line) => line.replace(/^(# HELP \S+) .*/, '$1'))).toEqual([
      `# HELP ${gauge}`,
      `# TYPE ${gauge} gauge`,
      `${gauge}{tier="operator"} 1`,
      `${gauge}{tier="client"} 2003`,
    ])
    expect(await reader.series()).toEqual([
      [{ tier: 'operator' }, 1],
      [{ tier: 'client' }, 2003],
    ])
  })

  it('is exported by the leader only', async () => {
    const clock = fakeClock()
    const backend = await fullStore()
    const [leader, ...others] = [1, 2, 3].map(() => startReplica(backend, clock))
    await clock.advance(untilFirst)
    expect(await leader?.scrape()).toEqual({ operator: 15_000, client: 15_000 })
    for (const other of others) expect(await other.scrape()).toEqual({})
  })

  it('of a former leader shows no backlog: zero once more, then no series', async () => {
    const reader = new ForgetfulReader()
    const exporter = testExporter()
    const backlog = createBacklogGauge(new MeterProvider({ readers: [reader, exporter] }))
    expect(await reader.series()).toEqual([])
    backlog.show(
      new Map([
        ['operator', 7000],
        ['client', 0],
      ]),
    )
    for (const _ of [1, 2]) {
      expect(await reader.series()).toEqual([
        [{ tier: 'operator' }, 7000],
        [{ tier: 'client' }, 0],
      ])
    }
    backlog.clear()
    backlog.clear()
    expect(await reader.series()).toEqual([
      [{ tier: 'operator' }, 0],
      [{ tier: 'client' }, 0],
    ])
    expect(await reader.series()).toEqual([])
    // The SDK's own Prometheus exporter never forgets a series; all it can be made to say is zero.
    expect(await scrapeText(exporter)).toContain(`${gauge}{tier="operator"} 0\n`)
    backlog.show(new Map([['client', 3]]))
    expect(await reader.series()).toEqual([[{ tier: 'client' }, 3]])
  })

  it.each([
    ['close', undefined],
    ['losing the lease', 'lease.replace'],
  ])('%s takes the backlog away', async (_, fault) => {
    const replica = startReplica(await fullStore())
    await replica.clock.advance(untilFirst)
    if (fault === undefined) {
      await replica.sweeper.close()
    } else {
      replica.failNext(fault, 'before')
      await replica.clock.advance(20 * seconds)
    }
    expect(await replica.scrape()).toEqual({ operator: 0, client: 0 })
  })

  it('a cycle whose lease was lost meanwhile brings nothing back', async () => {
    const replica = startReplica(await fullStore())
    await replica.clock.advance(untilFirst)
    const slow = heldCall()
    replica.onCall('client_refresh_tokens.sweep', slow.hook)
    await replica.clock.advance(5 * minutes)
    replica.failNext('lease.replace', 'before')
    await replica.clock.advance(20 * seconds)
    expect(await replica.scrape()).toEqual({ operator: 0, client: 0 })
    await slow.goOn()
    expect(await replica.scrape()).toEqual({ operator: 0, client: 0 })
    await replica.clock.advance(5 * minutes)
    expect(await replica.scrape()).toEqual({ operator: 5000, client: 5000 })
  })

  it('of a process that never led, and closes, has no series', async () => {
    const replica = startReplica(memory())
    await replica.sweeper.close()
    expect(await replica.scrape()).toEqual({})
  })
})

describe('the meter provider', () => {
  afterEach(() => metrics.disable())

  it('is the global one, as it is when the sweep starts, unless one is given', async () => {
    const clock = fakeClock()
    const exporter = testExporter()
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }))
    const given = {
      random: systemRandom,
      ...nothingToResume,
      logger: recordingLogger(),
    }
    startSweeping(await providersOf({}), { backend: memory(), clock, ...given })
    await clock.advance(untilFirst)
    expect(await scrapeText(exporter)).toContain(`${gauge}{tier="client"} 0\n`)
  })

  it('need not be there at all', async () => {
    const replica = { backend: memory(), clock: fakeClock() }
    const given = { random: systemRandom, ...nothingToResume }
    const deps = { ...replica, ...given, logger: recordingLogger() }
    const sweeper = startSweeping({}, deps)
    await replica.clock.advance(untilFirst)
    await sweeper.close()
    expect(deps.logger.lines).toEqual([])
  })
})
