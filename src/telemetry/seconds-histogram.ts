import type { Histogram, Meter } from '../ports/telemetry.js'

/** In seconds, with the bucket boundaries that OpenTelemetry's conventions advise for requests. */
export function secondsHistogram(meter: Meter, name: string, description: string): Histogram {
  const explicitBucketBoundaries = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ]
  return meter.createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries },
  })
}
