import { metrics } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { type HashLine, hashGate } from '../../src/crypto/hash-gate.js'
import { hashQueueInstruments } from '../../src/telemetry/open-telemetry.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { openHost } from '../support/hosts/open-host.js'
import { goodPassword, person } from '../support/people/people.js'
import { telemetryRig } from './telemetry-rig.js'

const length = 'svc_auth_hash_queue_length'
const wait = 'svc_auth_hash_queue_wait_seconds'
const refused = 'svc_auth_hash_queue_refused_total'

const client: HashLine = { holder: 'client', name: 'network 10.0.0.1' }
const operator: HashLine = { holder: 'operator', name: 'network 10.0.0.2' }
const code: HashLine = { holder: 'host', name: '' }

afterEach(() => metrics.disable())

/** A gate of one place, taken until `leave` is called, before a queue of so much room. */
async function takenGate(queue: number) {
  const rig = telemetryRig()
  const clock = fakeClock()
  const options = { concurrency: 1, queue, clock }
  const run = hashGate({ ...options, metrics: hashQueueInstruments(rig.meterProvider) })
  let leave = (): void => {}
  const first = run(client, () => new Promise<void>((resolve) => (leave = resolve)))
  const series = async (name: string) =>
    (await rig.points())
      .filter((point) => point.name === name)
      .map(({ labels, value }) => ({ ...labels, value }))
  const work = async () => 'done'
  return { ...rig, clock, run, series, work, first, leave: () => leave() }
}

describe('the hash queue', () => {
  it('tells how many wait, by the surface that they are for', async () => {
    const { run, work, series, first, leave } = await takenGate(16)
    const waiting = [client, client, operator, code].map((line) => run(line, work))
    expect(await series(length)).toEqual([
      { holder: 'client', value: 2 },
      { holder: 'operator', value: 1 },
      { holder: 'host', value: 1 },
    ])
    leave()
    await Promise.all([first, ...waiting])
    expect((await series(length)).map(({ value }) => value)).toEqual([0, 0, 0])
  })

  it('tells how long each waited for its turn, 0 where it did not have to', async () => {
    const { clock, run, work, histograms, first, leave } = await takenGate(16)
    const waiting = [run(client, work)]
    await clock.advance(300)
    waiting.push(run(operator, work))
    await clock.advance(700)
    leave()
    await Promise.all([first, ...waiting])
    expect(await histograms()).toMatchObject([
      {
        name: wait,
        unit: 's',
        labels: { holder: 'client' },
        count: 2,
        sum: 1,
        buckets: [0.005, 1],
      },
      {
        name: wait,
        unit: 's',
        labels: { holder: 'operator' },
        count: 1,
        sum: 0.7,
        buckets: [0.75],
      },
    ])
  })

  it('tells of each refusal why, and counts none that was refused as waiting', async () => {
    const { clock, run, work, series, first, leave } = await takenGate(2)
    const late = run(client, work)
    const given = [run(client, work), run(client, work)].map((one) => one.catch(() => 'refused'))
    const newcomer = run(operator, work).catch(() => 'refused')
    expect(await series(length)).toContainEqual({ holder: 'client', value: 1 })
    const lost = expect(late).rejects.toMatchObject({ code: 'server_busy' })
    await clock.advance(2_000)
    await lost
    leave()
    await Promise.all([first, newcomer, ...given])
    expect(await series(refused)).toEqual([
      { holder: 'client', reason: 'full', value: 2 },
      { holder: 'client', reason: 'late', value: 1 },
      { holder: 'operator', reason: 'late', value: 1 },
    ])
    expect((await series(length)).map(({ value }) => value)).toEqual([0, 0])
  })

  it('is told of by a host, through its own provider or the global one', async () => {
    for (const isGlobal of [false, true]) {
      const { meterProvider, histograms } = telemetryRig()
      if (isGlobal) metrics.setGlobalMeterProvider(meterProvider)
      const host = await openHost(isGlobal ? {} : { meterProvider })
      const { email } = await person(host, 'client')
      await host.send('POST', '/v1/auth/client/login', { body: { email, password: goodPassword } })
      const waits = (await histograms()).filter(({ name }) => name === wait)
      expect(waits.map(({ labels }) => labels)).toContainEqual({ holder: 'client' })
    }
  })

  it('goes on without a provider that fails', async () => {
    const no = () => {
      throw new Error('no')
    }
    const meter = {
      createCounter: () => ({ add: no }),
      createUpDownCounter: () => ({ add: no }),
      createHistogram: () => ({ record: no }),
    }
    const broken = hashQueueInstruments({ getMeter: () => meter as never })
    const clock = fakeClock()
    const run = hashGate({ concurrency: 1, queue: 1, clock, metrics: broken })
    const both = [run(client, async () => 'first'), run(client, async () => 'second')]
    await expect(run(client, async () => 'third')).rejects.toMatchObject({ code: 'server_busy' })
    expect(await Promise.all(both)).toEqual(['first', 'second'])
  })
})
