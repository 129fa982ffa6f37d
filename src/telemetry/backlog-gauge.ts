import { metrics } from '@opentelemetry/api'
import type { BacklogGauge } from '../domain/sweep/sweep-work.js'
import type { Surface } from '../ports/surface.js'
import type { MeterProvider, ObservableResult } from '../ports/telemetry.js'

/**
 * The gauge `svc_auth_token_sweep_backlog_estimate{tier}`: expired refresh rows not yet removed.
 * The global provider is read now, not at import: the metrics API has no proxy, so an instrument
 * made before the host registered its provider would stay dead.
 */
export function createBacklogGauge(
  provider: MeterProvider = metrics.getMeterProvider(),
): BacklogGauge {
  let backlog: ReadonlyMap<Surface, number> = new Map()
  let leads = false

  function observe(result: ObservableResult): void {
    for (const [tier, left] of backlog) result.observe(left, { tier })
    if (!leads) backlog = new Map()
  }

  provider
    .getMeter('postern')
    .createObservableGauge('svc_auth_token_sweep_backlog_estimate', {
      description: 'Expired refresh tokens that the sweep has not removed yet, up to 100,000.',
    })
    .addCallback(observe)

  return {
    show(left) {
      leads = true
      backlog = left
    },
    /**
     * A series no longer observed is no longer exported, says OpenTelemetry; its JavaScript SDK
     * repeats the last value for ever (opentelemetry-js issue 4096). So zero is observed once more
     * before the silence: a sum over replicas is right with either behaviour.
     */
    clear() {
      leads = false
      backlog = new Map([...backlog.keys()].map((tier) => [tier, 0] as const))
    },
  }
}
