import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { isChromiumMissing, visitors } from '../../support/hosts/browser.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'
import { browserHost } from '../http/browser-host.js'
import { type PasskeyPage, passkeyPage } from './passkey-browser.js'

const { arrive } = visitors()

const neighbourOf = (url: string): string => url.replace('localhost', 'app.localhost')

/** Both surfaces at one address, and at a second one of the same relying party. */
function atLocalhost(url: string, second = neighbourOf(url)) {
  const { rateLimits } = withoutLimits.surfaces.client
  const allowedOrigins = [second]
  const surface = { baseUrl: url, allowedOrigins, rateLimits, webauthn: { rpId: 'localhost' } }
  return {
    surfaces: { operator: surface, client: surface },
    settings: { webauthnMode: 'passwordless' as const },
  }
}

interface Holder extends Person, SignedIn {
  readonly page: PasskeyPage
}

/** Somebody who registered a passkey with their browser. */
async function holder(host: ContractHost, surface: Surface): Promise<Holder> {
  const who = await signedInPerson(host, surface)
  const page = await passkeyPage(await arrive(), `${host.url}/`)
  const given = { bearer: who.bearer, currentPassword: who.password }
  const begun = (await passkeysOn(host, surface).startRegistration(given)).json()
  const response = await page.create(begun['options'])
  const challengeId = textOf(begun, 'challengeId')
  const done = await passkeysOn(host, surface).finishRegistration(
    { bearer: who.bearer },
    challengeId,
    response,
    'This laptop',
  )
  expect(done.status, done.text).toBe(201)
  return { ...who, page }
}

describe.skipIf(isChromiumMissing)('passkeys in chromium', () => {
  eachSurface.describe((surface) => {
    it('one is registered, and finishes a login that a password began', async () => {
      const host = await browserHost((url) => atLocalhost(url))
      const { page, email, password } = await holder(host, surface)
      const at = `/v1/auth/${surface}`
      const first = await page.post(`${at}/login`, { email, password })
      expect(first.body).toMatchObject({ status: 'mfaRequired', methods: ['webauthn'] })
      const { mfaToken } = first.body
      const begun = await page.post(`${at}/webauthn/login/options`, { mfaToken })
      const { challengeId, options } = begun.body
      const response = await page.get(options)
      const done = await page.post(`${at}/webauthn/login/verify`, {
        ...{ challengeId, response, mfaToken },
      })
      expect([done.status, done.body['status']]).toEqual([200, 'authenticated'])
      // The browser holds the cookie of the session.
      const refreshed = await page.post(`${at}/refresh-cookie`, {})
      expect(refreshed.status).toBe(200)
    })

    it('one signs in without a password, and without a name', async () => {
      const host = await browserHost((url) => atLocalhost(url))
      const { page, email } = await holder(host, surface)
      const at = `/v1/auth/${surface}`
      const begun = await page.post(`${at}/webauthn/login/options`, {})
      const { challengeId, options } = begun.body
      expect(JSON.stringify(options)).not.toContain('allowCredentials":[{')
      const response = await page.get(options)
      const done = await page.post(`${at}/webauthn/login/verify`, { challengeId, response })
      expect([done.status, done.body['status']]).toEqual([200, 'authenticated'])
      expect(done.body['user']).toMatchObject({ email })
      const refreshed = await page.post(`${at}/refresh-cookie`, {})
      expect(refreshed.status).toBe(200)
    })

    it('one works at another origin of the relying party', async () => {
      const second = (await browserHost()).url
      const host = await browserHost((url) => atLocalhost(url, second))
      const who = await holder(host, surface)
      const [own] = await who.page.kept()
      if (own === undefined) throw new Error('the browser kept no passkey')
      const page = await passkeyPage(await arrive(), `${second}/`)
      await page.keep(own)
      const { challengeId, options } = await passkeysOn(host, surface).begunLogin()
      const response = await page.get(options)
      const reply = await passkeysOn(host, surface).finishLogin(challengeId, response)
      expect(outcomeOf(reply)).toBe('200')
    })

    it('whatever is wrong with a response, the refusal is the same', async () => {
      const host = await browserHost((url) => atLocalhost(url))
      const who = await holder(host, surface)
      const on = passkeysOn(host, surface)
      const [own] = await who.page.kept()
      if (own === undefined) throw new Error('the browser kept no passkey')

      /** The reply to a response that `page` gives to options a stranger has tampered with. */
      async function shown(page: PasskeyPage, tampered: object = {}) {
        const { challengeId, options } = await on.begunLogin()
        return on.finishLogin(challengeId, await page.get({ ...options, ...tampered }))
      }
      const elsewhere = await browserHost()

      const right = await on.begunLogin()
      const response = await who.page.get(right.options)
      expect(outcomeOf(await on.finishLogin(right.challengeId, response))).toBe('200')
      const replayed = await on.finishLogin(right.challengeId, response)

      const stranger = await passkeyPage(await arrive(), `${elsewhere.url}/`)
      await stranger.keep({ ...own, signCount: 100 })
      const wrongOrigin = await shown(stranger)

      const neighbour = await passkeyPage(await arrive(), `${neighbourOf(host.url)}/`)
      await neighbour.keep({ ...own, rpId: 'app.localhost', signCount: 100 })
      const wrongRpId = await shown(neighbour, { rpId: 'app.localhost' })

      await who.page.verifies(false)
      const unverified = await shown(who.page, { userVerification: 'discouraged' })
      await who.page.verifies(true)

      const copy = await passkeyPage(await arrive(), `${host.url}/`)
      await copy.keep({ ...own, signCount: 0 })
      const regressed = await shown(copy)

      const refusals = { replayed, wrongOrigin, wrongRpId, unverified, regressed }
      for (const [what, reply] of Object.entries(refusals)) {
        expect(outcomeOf(reply), what).toBe('401 invalid_credentials')
        expect(reply.text, what).toBe(replayed.text)
      }
      // None of it stands in the owner's way.
      expect(outcomeOf(await shown(who.page))).toBe('200')
    })
  })

  it('a passkey of one surface opens nothing on the other', async () => {
    const host = await browserHost((url) => atLocalhost(url))
    const { page } = await holder(host, 'client')
    const on = passkeysOn(host, 'operator')
    const { challengeId, options } = await on.begunLogin()
    const reply = await on.finishLogin(challengeId, await page.get(options))
    expect(outcomeOf(reply)).toBe('401 invalid_credentials')
  })
})
