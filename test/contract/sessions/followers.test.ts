import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, storedIn } from '../../support/hosts/open-host.js'
import { signedInApp, signedInPerson } from '../../support/people/people.js'
import { recognitionCookie } from '../../support/people/recognition-steps.js'

const hour = 3_600_000
const laptop = 'Browser/1.0 (Laptop)'

eachSurface.describe('two holders of one session', (surface) => {
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

  it.each([
    ['', [false, true, false, true]],
    [', but not where recognition is off', [false, false, false, false]],
  ])('… or another recognition id%s', async (off, told) => {
    const host = await openHost({ deviceRecognition: off === '' })
    const { cookie } = await signedInPerson(host, surface)
    const headers = { 'user-agent': laptop }
    const own = `; ${recognitionCookie(surface, 'the-id-of-the-browser0')}`
    const copied = `; ${recognitionCookie(surface, 'an-id-of-a-thiefs-own0')}`
    const refresh = (kept: string) =>
      host.send('POST', at('/refresh-cookie'), { cookie: `${cookie}${kept}`, headers })
    for (const kept of [own, own, copied, own, '']) expect((await refresh(kept)).status).toBe(200)
    const others = eventsOf(host, 'refresh.reissued').map(({ otherClient }) => otherClient)
    expect(others).toEqual(told)
  })

  it('what is stored of a client differs between users of one browser', async () => {
    const host = await openHost()
    const rotatedBy = []
    for (let n = 0; n < 2; n += 1) {
      const { id, cookie } = await signedInPerson(host, surface)
      const shown = `${cookie}; ${recognitionCookie(surface, 'the-id-of-the-browser0')}`
      await host.send('POST', at('/refresh-cookie'), { cookie: shown })
      const [row] = await storedIn(host, surface).families.find({ userId: id }, { limit: 1 })
      rotatedBy.push(row?.rotatedBy)
    }
    expect(new Set(rotatedBy).size).toBe(2)
  })

  it('… which an app sends with its refresh token', async () => {
    const host = await openHost()
    const { refreshToken } = await signedInApp(host, surface)
    const headers = { 'user-agent': 'App/3' }
    const refresh = (more: object) =>
      host.send('POST', at('/refresh'), { body: { refreshToken, ...more }, headers })
    const recognitionId = 'the-id-of-the-app00000'
    for (const more of [{ recognitionId }, { recognitionId }, {}]) {
      expect((await refresh(more)).status).toBe(200)
    }
    const others = eventsOf(host, 'refresh.reissued').map(({ otherClient }) => otherClient)
    expect(others).toEqual([false, true])
  })
})
