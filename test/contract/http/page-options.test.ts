import { describe, expect, it } from 'vitest'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework, eachSampleStore, eachStore } from '../../support/hosts/matrix.js'
import { openHost, openHostAtOneAddress, surfaces } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'

const kinds = [
  ...new Map(
    [...eachFramework.cells, ...eachStore.cells].map((kind) => [kind.name, kind]),
  ).values(),
]
const cached = 'public, max-age=60'
const usual = {
  registrationOpen: true,
  passwordLogin: true,
  passkeys: 'secondFactor',
  totp: true,
  providers: [],
  passwordMinLength: 15,
  passwordMaxLength: 1024,
  termsVersion: null,
  emailVerificationRequired: true,
}
const at = (surface: string): string => `/v1/auth/${surface}/options`

function headersOf({ headers }: Reply): Readonly<Record<string, string>> {
  const { date: _, ...others } = Object.fromEntries(headers)
  return others
}

describe.each(kinds)('what pages ask for first [$name]', ({ start }) => {
  it('is the same for everybody, whatever they bring', async () => {
    const host = await start(withoutLimits)
    try {
      const send = rawClient(host.url)
      for (const surface of surfaces) {
        const plain = await send('GET', at(surface))
        expect(plain.status).toBe(200)
        expect(plain.json()).toEqual(usual)
        expectHouseHeaders(plain, cached)
        expect(plain.headers.get('vary')).toBe('Authorization, Origin')
        expect(plain.headers.get('etag')).toMatch(/^"[\w-]{43}"$/)
        const other = surface === 'client' ? 'operator' : 'client'
        const { bearer, cookie } = await signedInPerson(host, surface)
        const foreign = await signedInPerson(host, other)
        const ask = (authorization: string) =>
          send('GET', at(surface), { headers: { authorization, cookie } })
        for (const authorization of [`Bearer ${bearer}`, 'Bearer x']) {
          const known = await ask(authorization)
          expect([known.status, known.text, known.setCookies]).toEqual([200, plain.text, []])
          expect(headersOf(known)).toEqual(headersOf(plain))
        }
        const refused = await ask(`Bearer ${foreign.bearer}`)
        expectProblem(refused, 401, 'audience_mismatch')
        expect(refused.headers.get('cache-control')).toBe('no-store')
      }
    } finally {
      await host.close()
    }
  })

  it('is not sent again to a browser that has it', async () => {
    const host = await start(withoutLimits)
    try {
      const send = rawClient(host.url)
      const first = await send('GET', at('client'))
      const etag = first.headers.get('etag') ?? ''
      const ask = (condition: string, method = 'GET') =>
        send(method, at('client'), { headers: { 'if-none-match': condition } })
      for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const reply = await ask(condition)
        expect([reply.status, reply.text], condition).toEqual([304, ''])
        const { headers } = reply
        expect(headers.get('etag')).toBe(etag)
        expect(headers.get('cache-control')).toBe(cached)
        expect(headers.get('vary')).toBe('Authorization, Origin')
        expect(headers.get('content-type')).toBeNull()
      }
      for (const condition of ['"other"', etag.slice(1, -1), '']) {
        const reply = await ask(condition)
        expect([reply.status, reply.text], condition).toEqual([200, first.text])
      }
      expect((await ask(etag, 'HEAD')).status).toBe(304)
      // Another reply of the library is not kept by anybody.
      const me = await send('GET', '/v1/auth/client/me', { headers: { 'if-none-match': '*' } })
      expect([me.status, me.headers.get('etag')]).toEqual([401, null])
    } finally {
      await host.close()
    }
  })
})

eachSampleStore.it('follows the settings', async (kind) => {
  const host = await settingsHost({}, kind)
  const asked = async (surface: string) => (await host.send('GET', at(surface))).json()
  const first = await host.send('GET', at('client'))
  await host.set({
    config: {
      registrationOperatorEnabled: 'false',
      registrationTermsVersion: '2026-11',
      emailVerificationRequired: 'false',
      passwordMinLength: '20',
      webauthnMode: 'passwordless',
      totpEnabled: 'false',
      passwordLoginClientEnabled: 'false',
      githubOperatorEnabled: 'true',
      githubClientId: 'planted-id',
      githubClientSecret: 'planted-secret',
    },
  })
  const all = {
    passkeys: 'passwordless',
    totp: false,
    passwordMinLength: 20,
    passwordMaxLength: 1024,
    termsVersion: '2026-11',
    emailVerificationRequired: false,
  }
  expect(await asked('operator')).toEqual({
    ...{ ...all, registrationOpen: false, passwordLogin: true },
    providers: ['github'],
  })
  expect(await asked('client')).toEqual({
    ...{ ...all, registrationOpen: true, passwordLogin: false },
    providers: [],
  })
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
  const newer = await host.send('GET', at('client'), { headers })
  expect([newer.status, newer.text.includes('planted')]).toEqual([200, false])
})

it('a policy that requires a second factor requires a confirmed address', async () => {
  const host = await openHost({
    settings: { mfaPolicyClient: 'required', emailVerificationRequired: false },
  })
  const required = async (surface: string) =>
    (await host.send('GET', at(surface))).json()['emailVerificationRequired']
  expect([await required('client'), await required('operator')]).toEqual([true, false])
})

it('a refusal is not kept', async () => {
  const host = await openHostAtOneAddress()
  expect((await host.send('GET', at('client'))).status).toBe(200)
  for (let asked = 1; asked < 300; asked += 1) await host.send('GET', at('client'))
  const busy = await host.send('GET', at('client'))
  expect(busy.headers.get('etag')).toBeNull()
  expectProblem(busy, 429, 'rate_limited')
  // The budget is its own.
  expect((await host.send('GET', '/v1/auth/client/jwks')).status).toBe(200)
})
