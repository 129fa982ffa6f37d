import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refreshCookieOf } from '../support/hosts/http-client.js'
import { figure } from './figures.js'
import { grantOf, type Host, outcomeOf } from './host-client.js'
import { sizes } from './sizes.js'
import { at, describeOn, type OpenHosts, openHosts, patient } from './stores.js'

const rounds = sizes.twoTabRounds

/** A refresh whose reply is cut off at its first bytes: done, and nobody knows. */
function refreshAndLose({ url }: Host, refreshToken: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/auth/client/refresh-cookie`, {
      method: 'POST',
      agent: false,
      headers: { cookie: `__Host-cl_refresh=${refreshToken}` },
    })
    sent.on('error', reject)
    sent.on('response', (reply) => {
      reply.on('error', () => {})
      sent.destroy()
      resolve()
    })
    sent.end()
  })
}

describeOn('postgres', 'figure tabs: nobody is signed out by accident, postgres', () => {
  let open: OpenHosts | undefined
  beforeAll(async () => {
    open = await openHosts('postgres', 2, { options: { backendTimeout: patient } })
  })
  afterAll(() => open?.close())

  it(`${rounds} rounds of two tabs refreshing one cookie at once: 0 sign-outs`, async () => {
    const hosts = open?.hosts ?? []
    const { refreshToken } = await at(hosts, 0).newLogin()
    let cookie = `__Host-cl_refresh=${refreshToken}`
    let signOuts = 0
    for (let round = 0; round < rounds; round += 1) {
      const tabs = await Promise.all(
        hosts.map((host) => host.send('POST', '/v1/auth/client/refresh-cookie', { cookie })),
      )
      expect(tabs.map(outcomeOf).sort()).toEqual(['200 reissued', '200 rotated'])
      const calls = tabs.map((tab, index) => {
        return at(hosts, index + 1).me(String(tab.json()['accessToken']))
      })
      signOuts += (await Promise.all(calls)).filter(({ status }) => status !== 200).length
      // The browser keeps the cookie that came last, which may be either.
      cookie = refreshCookieOf(at(tabs, round % 3), 'client')
    }
    expect(signOuts).toBe(0)
    figure('tabs', 'two tabs refresh at once', `${rounds} rounds on 2 processes: 0 sign-outs`)
  }, 300_000)

  it(`${rounds} rounds of a refresh whose reply was lost, tried again: 0 sign-outs`, async () => {
    const hosts = open?.hosts ?? []
    let { refreshToken } = await at(hosts, 0).newLogin()
    for (let round = 0; round < rounds; round += 1) {
      await refreshAndLose(at(hosts, round), refreshToken)
      const again = await at(hosts, Math.floor(round / 2)).refresh(refreshToken)
      expect(outcomeOf(again)).toBe('200 reissued')
      ;({ refreshToken } = grantOf(again))
    }
    figure(
      'tabs',
      'a lost refresh reply, tried again',
      `${rounds} rounds on 2 processes: re-issued every time, 0 sign-outs`,
    )
  }, 300_000)
})
