import { expect, it } from 'vitest'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import {
  codeOf,
  enrolled,
  finish,
  passwordLogin,
  ticketOf,
} from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, person } from '../../support/people/people.js'
import {
  elsewhere,
  home,
  idsIn,
  loginHere,
  recognitionCookie,
  recognitionOf,
} from '../../support/people/recognition-steps.js'

const planted = 'planted-by-a-stranger0'

eachSurface.describe('a recognition id in a body', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('an app sends it and gets it in the body, at each door', async () => {
    const host = await openHost({ settings: { webauthnMode: 'passwordless' } })
    const who = await person(host, surface)
    const login = (headers: typeof home, more: object = {}) =>
      host.send('POST', at('/mobile/login'), {
        body: { email: who.email, password: who.password, ...more },
        headers,
      })
    const first = await login(home)
    const recognitionId = textOf(first.json(), 'recognitionId')
    expect([first.setCookies, recognitionId]).toEqual([[], expect.stringMatching(/^[\w-]{22}$/)])
    await host.auth.close()
    const again = await login(elsewhere, { recognitionId })
    expect(textOf(again.json(), 'recognitionId')).toBe(recognitionId)
    expect(eventsOf(host, 'login.newDevice')).toEqual([])
    const holder = await enrolled(host, surface)
    const waiting = await passwordLogin(host, surface, holder, 'mobile/login')
    expect(waiting.json()['recognitionId']).toBeUndefined()
    const mfaToken = textOf(waiting.json(), 'mfaToken')
    const done = await finish(host, surface, mfaToken, await holder.nextCode())
    expect([done.setCookies, textOf(done.json(), 'recognitionId')]).toEqual([
      [],
      expect.stringMatching(/^[\w-]{22}$/),
    ])
  })

  it.each(['login', 'mobile/login'] as const)(
    'counts where the tokens of a %s go, and nowhere else, also behind a second factor',
    async (door) => {
      const host = await openHost()
      const who = await enrolled(host, surface)
      const sentTo = async (recognitionId: string, cookie: string) => {
        const mfaToken = await ticketOf(host, surface, who, door)
        const body = { mfaToken, method: 'totp', code: await who.nextCode(), recognitionId }
        const done = await host.send('POST', at('/login/mfa'), { body, cookie })
        await host.auth.close()
        const inBody = done.json()['recognitionId']
        return [inBody, recognitionOf(done)].filter((given) => given !== undefined).map(String)
      }
      const [inBody, inCookie] = ['planted-in-the-body000', 'planted-in-a-cookie000']
      const [given = '', ...more] = await sentTo(inBody, recognitionCookie(surface, inCookie))
      expect(more).toEqual([])
      expect(given).toContain(door === 'login' ? inCookie : inBody)
      expect(given).not.toContain(door === 'login' ? inBody : inCookie)
      const kept =
        door === 'login' ? [inBody, given] : [given, recognitionCookie(surface, inCookie)]
      expect(await sentTo(kept[0] ?? '', kept[1] ?? '')).toEqual([given])
    },
  )

  it('no script of a page gets the cookie’s value into a body', async () => {
    const host = await openHost({
      settings: { emailVerificationRequired: false, webauthnMode: 'passwordless' },
    })
    const who = await passkeyHolder(host, surface)
    const cookie = await loginHere(host, surface, await person(host, surface), home)
    const headers = { 'x-token-delivery': 'body' }
    const registered = await host.send('POST', at('/register'), {
      body: { email: 'new@example.org', password: goodPassword },
      headers,
      cookie,
    })
    const { challengeId, options } = await passkeysOn(host, surface).begunLogin()
    const response = who.authenticator.get(options)
    const body = { challengeId, response }
    const path = at('/webauthn/login/verify')
    const done = await host.send('POST', path, { body, headers, cookie })
    for (const reply of [registered, done]) {
      expect(textOf(reply.json(), 'recognitionId')).toMatch(/^[\w-]{22}$/)
      expect(reply.text).not.toContain(idsIn(cookie)[0])
      expect(reply.setCookies).toEqual([])
    }
  })

  it('an app that adds its first factor on the way in sends it with that', async () => {
    const host = await openHost({
      settings: { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' },
    })
    const enrolling = async (finishing: (mfaToken: string) => Promise<Reply>) => {
      const who = await person(host, surface)
      const first = await passwordLogin(host, surface, who, 'mobile/login')
      const done = await finishing(textOf(first.json(), 'mfaToken'))
      return textOf(done.json(), 'recognitionId')
    }
    const recognitionId = planted
    const byTotp = await enrolling(async (mfaToken) => {
      const begun = await host.send('POST', at('/mfa/totp'), { body: { mfaToken } })
      const code = codeOf(host, textOf(begun.json(), 'secret'))
      return host.send('POST', at('/mfa/totp/confirm'), { body: { mfaToken, code, recognitionId } })
    })
    const byPasskey = await enrolling(async (mfaToken) => {
      const begun = await passkeysOn(host, surface).startRegistration({ mfaToken })
      const { challengeId, options } = JSON.parse(begun.text)
      const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
      return host.send('POST', at('/webauthn/registration/verify'), {
        body: { mfaToken, challengeId, response, recognitionId },
      })
    })
    const sent = new RegExp(`^[\\w-]{22}\\.${planted}$`)
    expect([byTotp, byPasskey]).toEqual([expect.stringMatching(sent), expect.stringMatching(sent)])
  })
})
