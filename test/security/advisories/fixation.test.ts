import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, passwordLogin } from '../../support/people/authenticator.js'
import { person, signedInPerson } from '../../support/people/people.js'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
const prefixOf = { operator: '__Host-op_', client: '__Host-cl_' } as const
const kinds = ['refresh', 'device', 'registration', 'recognition', 'session'] as const

const pageOf = (host: ContractHost, surface: Surface, cookie: string) =>
  host.send('GET', at(surface, '/session'), { cookie })

const sidOf = (token: string): string => textOf(decodeJwt(token), 'sid')
const heldIn = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1)

eachSurface.describe('what was planted before a login', (surface) => {
  const name = `${prefixOf[surface]}refresh`

  it('is no session afterwards: each login has a session of its own, by whatever came along', async () => {
    const host = await openHost(withoutLimits)
    const attacker = await signedInPerson(host, surface)
    const victim = await enrolled(host, surface)
    const junk = kinds.map((kind) => `${prefixOf[surface]}${kind}=planted-${'x'.repeat(40)}`)
    const seen = new Set([attacker, victim].map(({ bearer }) => sidOf(bearer)))
    for (const planted of [junk.join('; '), attacker.cookie, victim.cookie]) {
      const send = (path: string, body: object) =>
        host.send('POST', at(surface, path), { body, cookie: planted })
      const { email, password } = victim
      const first = await send('/login', { email, password })
      expect(first.setCookies.filter((cookie) => cookie.startsWith(name))).toEqual([])
      const mfaToken = textOf(first.json(), 'mfaToken')
      const code = await victim.nextCode()
      const second = await send('/login/mfa', { mfaToken, method: 'totp', code })
      const cookie = refreshCookieOf(second, surface)
      const sid = sidOf(heldIn(cookie))
      expect([seen.has(sid), planted.includes(heldIn(cookie))]).toEqual([false, false])
      expect(decodeJwt(heldIn(cookie)).sub).toBe(victim.id)
      seen.add(sid)
      const bearer = textOf(second.json(), 'accessToken')
      await host.send('POST', at(surface, '/logout'), { bearer })
      expect((await pageOf(host, surface, cookie)).code).toBe('session_revoked')
    }
    expect((await pageOf(host, surface, junk.join('; '))).status).toBe(401)
    // The attacker's own session is still the attacker's, and nobody else's.
    const own = await pageOf(host, surface, attacker.cookie)
    expect(decodeJwt(textOf(own.json(), 'accessToken')).sub).toBe(attacker.id)
  })
})

/** Every text in a reply: of its body, however deep, of its headers and of its cookies. */
function textsIn(reply: Reply): readonly string[] {
  const inside = (value: unknown): readonly string[] => {
    if (typeof value === 'string') return [value]
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(inside) : []
  }
  const cookies = reply.setCookies.map((cookie) => heldIn(cookie.split(';')[0] ?? ''))
  const texts = [
    ...inside(reply.json()),
    ...[...reply.headers].map(([, value]) => value),
    ...cookies,
  ]
  return [...new Set(texts)].filter((text) => /^[\w.~+/=-]{4,}$/.test(text))
}

/** Every route of the surface that is not public, and the two that a refresh cookie opens. */
function closedRoutes(surface: Surface, id: string) {
  const guarded = operations.filter(({ access, surfaces: on }) => {
    return access !== 'public' && on.includes(surface)
  })
  return [
    ...guarded.map(({ method, path }) => {
      const url = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, id)
      return { method, url }
    }),
    { method: 'GET', url: at(surface, '/session') },
    { method: 'POST', url: at(surface, '/refresh-cookie') },
  ]
}

/** An enrolment without an access token asks its body for a ticket before anything else. */
const isClosed = ({ status }: Reply) => status === 401 || status === 400

eachSurface.describe('a password without its second factor', (surface) => {
  it('nothing that the reply holds opens any route, as a bearer or as any cookie', async () => {
    const host = await openHost({
      ...withoutLimits,
      settings: { ...withoutLimits.settings, webauthnMode: 'secondFactor' },
      authorizer: { check: async () => true },
    })
    const who = await enrolled(host, surface)
    await host.send('POST', at(surface, '/logout'), { bearer: who.bearer })
    const texts = [
      ...textsIn(await passwordLogin(host, surface, who)),
      ...textsIn(await passwordLogin(host, surface, who, 'mobile/login')),
    ]
    expect(texts.length).toBeGreaterThan(4)
    const opened: string[] = []
    for (const text of texts) {
      const cookie = kinds.map((kind) => `${prefixOf[surface]}${kind}=${text}`).join('; ')
      for (const { method, url } of closedRoutes(surface, who.id)) {
        const body = method === 'GET' ? {} : { body: {} }
        const replies = [
          await host.send(method, url, { bearer: text, ...body }),
          await host.send(method, url, { cookie, ...body }),
        ]
        if (!replies.every(isClosed)) opened.push(`${method} ${url} ${text}`)
      }
    }
    expect(opened).toEqual([])
  })
})

it('without a factor the same replies do open them, so that something was tried', async () => {
  const host = await openHost()
  const who = await person(host, 'client')
  const texts = textsIn(await passwordLogin(host, 'client', who))
  const opening = await Promise.all(
    texts.map(async (bearer) => (await host.send('GET', at('client', '/me'), { bearer })).status),
  )
  expect(opening).toContain(200)
})
