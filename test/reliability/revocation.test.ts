import { afterAll, beforeAll, expect, it } from 'vitest'
import { figure, percentiles } from './figures.js'
import { type Host, outcomeOf } from './host-client.js'
import { monotonic } from './moving-clock.js'
import { sizes } from './sizes.js'
import { at, describeOn, type OpenHosts, openHosts } from './stores.js'

const revoked = '401 session_revoked'

interface Probe {
  readonly startedAt: number
  readonly answeredAt: number
  readonly outcome: string
}

/** Asks without a pause until `isOver`, and three times after it. */
async function probe(host: Host, accessToken: string, isOver: () => boolean) {
  const probes: Probe[] = []
  for (let left = 3; left > 0; ) {
    if (isOver()) left -= 1
    const startedAt = monotonic()
    const outcome = outcomeOf(await host.me(accessToken))
    probes.push({ startedAt, answeredAt: monotonic(), outcome })
  }
  return probes
}

for (const store of ['postgres', 'redis'] as const) {
  describeOn(store, `figure revocation: a logout reaches the other process, ${store}`, () => {
    let open: OpenHosts | undefined
    beforeAll(async () => {
      open = await openHosts(store, 2)
    })
    afterAll(() => open?.close())

    it(`${sizes.watchedLogouts} logouts: a request that starts after the reply is refused, always`, async () => {
      const hosts = open?.hosts ?? []
      const delays: number[] = []
      let later = 0
      for (let round = 0; round < sizes.watchedLogouts; round += 1) {
        const [here, there] = [at(hosts, round), at(hosts, round + 1)]
        const { accessToken } = await here.newLogin()
        expect(outcomeOf(await there.me(accessToken))).toBe('200')
        let repliedAt = Number.POSITIVE_INFINITY
        const probing = Promise.all(
          [1, 2].map(() => probe(there, accessToken, () => monotonic() > repliedAt)),
        )
        const reply = await here.logout(accessToken)
        repliedAt = monotonic()
        expect(reply.status).toBe(204)
        const probes = (await probing).flat()
        const strange = probes.filter(({ outcome }) => !['200', revoked].includes(outcome))
        expect(strange).toEqual([])
        const after = probes.filter(({ startedAt }) => startedAt > repliedAt)
        expect(after.length).toBeGreaterThan(0)
        expect(after.filter(({ outcome }) => outcome !== revoked)).toEqual([])
        later += after.length
        const refused = probes.filter(({ outcome }) => outcome === revoked)
        const first = Math.min(...refused.map(({ answeredAt }) => answeredAt))
        delays.push(first - repliedAt)
      }
      figure(
        'revocation',
        `from the logout reply to the first 401 on another process, ${store}`,
        `${delays.length} logouts: ${percentiles(delays, 50, 99)} (negative: refused before the ` +
          `logout was answered); ${later} of ${later} requests that started after the reply were 401`,
      )
    }, 300_000)
  })
}
