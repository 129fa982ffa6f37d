import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { flows } from '../../flows/catalogue.js'
import { type Flow, post, sessionOf } from '../../flows/flow.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { codeOf, enrolled } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { person, signedInPerson, signIn } from '../../support/people/people.js'

/** What asks for an access token, and what takes one where a login may come with a ticket instead. */
const bearerOnly = operations.filter(({ access }) => access !== 'public')

/** In a session, where the catalogue has a login that lacks a factor. */
const inSession: readonly Flow[] = [
  {
    of: 'confirmTotp',
    name: 'an app enrolled in a session',
    async prepare(walk) {
      const { bearer, password } = await sessionOf(walk)
      const body = { currentPassword: password }
      const begun = await post(walk, '/mfa/totp', body, { bearer })()
      const code = codeOf(walk.host, textOf(begun.json(), 'secret'))
      return { step: post(walk, '/mfa/totp/confirm', { code }, { bearer }) }
    },
  },
  {
    of: 'finishPasskeyRegistration',
    name: 'a passkey registered in a session',
    async prepare(walk) {
      const { bearer, password } = await sessionOf(walk)
      const on = passkeysOn(walk.host, walk.surface)
      const authenticator = softwareAuthenticator({ origin: origins[walk.surface] })
      return { step: () => on.register({ bearer, currentPassword: password }, authenticator) }
    },
  },
]

const walks = bearerOnly.flatMap(({ id, surfaces: on }) =>
  [...inSession, ...flows]
    .filter(({ of }) => of === id)
    .slice(0, 1)
    .flatMap((flow) => on.map((surface) => ({ id, flow, surface }))),
)

/** Notes which refresh rows are read one by one, as a refresh token would have it. */
function watchRows(read: string[]): (backend: Backend) => Backend {
  return (backend) => ({
    ...backend,
    store: {
      ...backend.store,
      collection(spec) {
        const inner = backend.store.collection(spec)
        if (!spec.name.endsWith('refresh_tokens')) return inner
        return {
          ...inner,
          get(id) {
            read.push(id)
            return inner.get(id)
          },
        }
      },
    },
  })
}

const isRefreshCookie = (cookie: string) => /^[^=]*_refresh=/.test(cookie)

describe('a route that an access token opens', () => {
  it('is every operation of the table that is not public', () => {
    expect(bearerOnly.length).toBeGreaterThanOrEqual(40)
    expect(new Set(walks.map(({ id }) => id))).toEqual(new Set(bearerOnly.map(({ id }) => id)))
  })

  it.each(walks)(
    '$id on $surface takes no part in the refresh cookie',
    async ({ flow, surface }) => {
      const read: string[] = []
      const { settings, ...options } = flow.options ?? {}
      const all = { ...withoutLimits.settings, ...settings }
      const wrapBackend = watchRows(read)
      const host = await openHost({ ...withoutLimits, ...options, settings: all, wrapBackend })
      const bystander = await signedInPerson(host, surface)
      const sid = String(decodeJwt(bystander.refreshToken)['sid'])
      const before = await storedIn(host, surface).families.get(sid)
      let cookie: string | null = null
      const send: typeof host.send = (method, path, given = {}) => {
        const cookies = [given.cookie, cookie].filter((one) => typeof one === 'string')
        return host.send(method, path, {
          ...given,
          ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
        })
      }
      const who = await person(host, surface)
      const walk = { host: { ...host, send }, surface, who, enrolled: null }
      const { step } = await flow.prepare(walk)
      read.splice(0)
      cookie = bystander.cookie
      const reply = await step()
      expect([reply.status < 300, reply.text]).toEqual([true, reply.text])
      expect(reply.setCookies.filter(isRefreshCookie)).toEqual([])
      expect(read).not.toContain(sid)
      expect(await storedIn(host, surface).families.get(sid)).toEqual(before)
    },
  )
})

eachSurface.describe('a good refresh cookie', (surface) => {
  it('opens no such route, with an access token that expired and without one', async () => {
    const read: string[] = []
    const host = await openHost({ ...withoutLimits, wrapBackend: watchRows(read) })
    const who = await enrolled(host, surface)
    const { bearer, cookie } = await signIn(host, surface, await person(host, surface))
    await host.clock.advance(15 * 60_000)
    read.splice(0)
    for (const { method, path, surfaces: on } of bearerOnly) {
      if (!on.includes(surface)) continue
      const url = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, who.id)
      const body = method === 'GET' ? {} : { body: {} }
      for (const tokens of [{ bearer, cookie }, { cookie }]) {
        const reply = await host.send(method, url, { ...tokens, ...body })
        // An enrolment without an access token asks its body for a ticket, before anything else.
        if (reply.status !== 400) expectProblem(reply, 401)
        expect([path, reply.setCookies]).toEqual([path, []])
      }
    }
    expect(read).toEqual([])
    const refreshed = await host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
    expect([refreshed.status, refreshed.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  })
})
