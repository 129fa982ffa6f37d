import { expect, it, onTestFinished } from 'vitest'
import { figure } from './figures.js'
import { type Host, outcomeOf } from './host-client.js'
import { type ClockLine, stoppedAt } from './moving-clock.js'
import { ownStores } from './own-stores.js'
import { startReplica } from './replicas.js'
import { sizes } from './sizes.js'
import {
  at,
  describeOn,
  everyStore,
  inLanes,
  type OpenHosts,
  openHosts,
  patient,
} from './stores.js'

const processes = 4
const requests = sizes.limitedRequests
const limit = 100
const windowMs = 60_000
/** What a process lets through before it reports: a fiftieth of the limit. */
const firstHits = 2
const busy = '503 server_busy'
const allowed = /^(200|429 rate_limited)$/

const address = '198.51.100.7'
const keys = (host: Host) => host.send('GET', '/v1/auth/client/jwks', { from: address })

const settings = { loginRateClient: limit }
const options = { trustProxy: 1, sweep: false, backendTimeout: patient, settings } as const

/** How many of so many requests passed. */
async function passed(
  hosts: readonly Host[],
  ask: (host: Host) => ReturnType<typeof keys>,
): Promise<number> {
  const outcomes: string[] = []
  await inLanes(requests, 32, async (n) => {
    // A slow machine has more logins than it can check in two seconds: these are told to come back, and do not count.
    let outcome = busy
    while (outcome === busy) outcome = outcomeOf(await ask(at(hosts, n)))
    outcomes.push(outcome)
  })
  expect(outcomes.filter((outcome) => !allowed.test(outcome))).toEqual([])
  return outcomes.filter((outcome) => outcome === '200').length
}

/** A login of a person, each time from one address. */
async function loginOf(host: Host): Promise<(host: Host) => ReturnType<typeof keys>> {
  const email = 'limited@example.org'
  const password = 'the passphrase of somebody'
  await host.control('createUser', { email, password })
  const path = '/v1/auth/client/mobile/login'
  return (other) => other.send('POST', path, { body: { email, password }, from: address })
}

async function setClocks(hosts: readonly Host[], line: ClockLine): Promise<void> {
  for (const host of hosts) await host.control('setClock', line)
}

for (const store of everyStore) {
  describeOn(
    store,
    `figure R9: ${processes} ${store === 'memory' ? 'instances' : 'processes'} on ${store}`,
    () => {
      const open = async (exact: boolean): Promise<OpenHosts & { readonly epoch: number }> => {
        const epoch = Date.now()
        const rateLimits = { jwksPerIp: { limit, windowMs }, exact }
        const clock = stoppedAt(epoch)
        const opened = await openHosts(store, processes, { clock, rateLimits, options })
        onTestFinished(() => opened.close())
        return { ...opened, epoch }
      }

      it.each([
        ['hit by hit', true, limit],
        ['in each process first', false, limit + processes * firstHits],
      ] as const)(
        'public keys, counted %s, are limited together, window after window',
        async (how, exact, most) => {
          const { hosts, epoch } = await open(exact)
          const first = await passed(hosts, keys)
          expect(first).toBeGreaterThanOrEqual(limit)
          expect(first).toBeLessThanOrEqual(most)
          await setClocks(hosts, stoppedAt(epoch + windowMs - 1))
          expect(await passed(hosts, keys)).toBe(0)
          await setClocks(hosts, stoppedAt(epoch + windowMs))
          const second = await passed(hosts, keys)
          expect(second).toBeGreaterThanOrEqual(limit)
          expect(second).toBeLessThanOrEqual(most)
          figure(
            'R9',
            `a limit of ${limit} counted ${how}, on ${store}`,
            `${requests} requests at once to ${processes} hosts: ${first} passed; none in the last millisecond of ` +
              `the window; ${second} in the next`,
          )
        },
      )

      it('logins of one address are limited together', async () => {
        const { hosts, epoch } = await open(false)
        const login = await loginOf(at(hosts, 0))
        expect(await passed(hosts, login)).toBe(limit)
        await setClocks(hosts, stoppedAt(epoch + windowMs))
        expect(await passed(hosts, login)).toBe(limit)
        figure(
          'R9',
          `${limit} logins of an address in a minute, on ${store}`,
          `${requests} logins at once at ${processes} hosts, in two windows: ${limit} passed in each`,
        )
      })
    },
  )
}

const own = ownStores.find(({ name }) => name === 'Redis')

it.skipIf(own?.missing !== null)(
  `figure R9: a Redis killed and started amid a window keeps what it counted${own?.missing ?? ''}`,
  async () => {
    const server = await own?.spawn()
    if (server === undefined) throw new Error('no Redis')
    onTestFinished(() => server.remove())
    const { place } = server
    const host = await startReplica({ place, clock: stoppedAt(Date.now()), options })
    onTestFinished(() => host.stop())
    const login = await loginOf(host)
    for (let n = 0; n < limit / 2; n += 1) expect(outcomeOf(await login(host))).toBe('200')
    await server.kill()
    expect(outcomeOf(await login(host))).toBe('503 service_unavailable')
    await server.start()
    await expect.poll(async () => outcomeOf(await login(host))).toBe('200')
    expect(await passed([host], login)).toBe(limit / 2 - 1)
    figure(
      'R9',
      'a Redis killed and started amid a window',
      `${limit} logins of an address passed in all, half of them before`,
    )
  },
  60_000,
)
