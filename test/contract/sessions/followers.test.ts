import { describe, expect, it } from 'vitest'
import { eventsOf, openHost, surfaces } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'

const hour = 3_600_000
const laptop = 'Browser/1.0 (Laptop)'

describe.each(surfaces)('two holders of one session on the %s surface', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('GET session leaves one event an hour for each network and user agent', async () => {
    const host = await openHost()
    const { cookie } = await signedInPerson(host, surface)
    const view = async (ip: string, userAgent: string) => {
      const headers = { 'x-forwarded-for': ip, 'user-agent': userAgent }
      const seen = await host.send('GET', at('/session'), { cookie, headers })
      expect(seen.status).toBe(200)
    }
    for (let page = 0; page < 3; page += 1) {
      await view('192.0.2.7', laptop)
      await view('192.0.2.99', laptop)
    }
    await view('203.0.113.9', laptop)
    await view('203.0.113.9', 'App/3')
    const viewed = () =>
      eventsOf(host, 'session.viewed').map(({ ip, userAgent }) => `${ip} ${userAgent}`)
    const first = [`192.0.2.7 ${laptop}`, `203.0.113.9 ${laptop}`, '203.0.113.9 App/3']
    expect(viewed()).toEqual(first)
    await host.clock.advance(hour - 1)
    await view('192.0.2.7', laptop)
    expect(viewed()).toEqual(first)
    await host.clock.advance(1)
    await view('192.0.2.99', laptop)
    expect(viewed()).toEqual([...first, `192.0.2.99 ${laptop}`])
  })

  it('a re-issue says whether another user agent has the newest token, and signs nobody out', async () => {
    const host = await openHost()
    const { cookie } = await signedInPerson(host, surface)
    const refresh = (userAgent: string) =>
      host.send('POST', at('/refresh-cookie'), { cookie, headers: { 'user-agent': userAgent } })
    for (const agent of [laptop, laptop, 'curl/8', laptop]) {
      expect((await refresh(agent)).status).toBe(200)
    }
    const others = eventsOf(host, 'refresh.reissued').map(({ otherClient }) => otherClient)
    expect(others).toEqual([false, true, false])
  })
})
