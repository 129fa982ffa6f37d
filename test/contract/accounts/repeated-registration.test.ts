import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { type ContractHost, hostKinds } from '../../support/hosts/hosts.js'
import {
  mailedToken,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
  surfaces,
} from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'

const path = (surface: Surface): string => `/v1/auth/${surface}/register`

const stranger = 'the password of a stranger'

function register(host: ContractHost, surface: Surface, given: Record<string, unknown>) {
  const body = { email: 'ada@example.org', password: goodPassword, ...given }
  return host.send('POST', path(surface), { body })
}

describe.each(hostKinds)('an address registered again, $name', (kind) => {
  describe.each(surfaces)('on the %s surface', (surface) => {
    it('puts nobody’s password in force when an address is registered twice and was never confirmed', async () => {
      const host = await openHost({}, kind)
      const email = 'victim@example.org'
      await register(host, surface, { email, password: stranger, name: 'Mallory' })
      const strangersLink = await mailedToken(host, 'verifyEmail', email)
      const again = await register(host, surface, { email, name: 'Vic' })
      expect([again.status, again.text]).toEqual([201, '{"status":"verificationRequired"}'])
      const token = await mailedToken(host, 'resetPassword', email)
      expect(host.mailer.last('resetPassword', email).name).toBe('')
      expect(await storedUser(host, surface, email)).toMatchObject({
        passwordHash: null,
        passwordChangedAt: null,
      })
      // However often the stranger tries, what was mailed last is a link for the owner to choose.
      for (let time = 0; time < 4; time += 1) {
        await register(host, surface, { email, password: stranger, name: 'Mallory' })
        // Mail goes out beside the request, and of two letters under way either may be the later.
        await host.auth.close()
      }
      const post = (path: string, body: unknown) =>
        host.send('POST', `/v1/auth/${surface}${path}`, { body })
      const confirmed = await post('/email/verify', { token: strangersLink })
      expect(outcomeOf(confirmed)).toBe('400 invalid_token')
      const login = (password: string) =>
        host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
      const newest = host.mailer.last('resetPassword', email).data.token
      expect(token).not.toBe(newest)
      const reset = await post('/password/reset', { token: newest, newPassword: goodPassword })
      expect(outcomeOf(reset)).toBe('204')
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
      expect((await login(goodPassword)).json()).toMatchObject({ user: { emailVerified: true } })

      // Confirmed is confirmed: from now on nobody's choice replaces it.
      await host.clock.advance(60 * 60 * 1000)
      await register(host, surface, { email, password: stranger })
      await host.auth.close()
      expect(host.mailer.sent.at(-1)).toMatchObject({ to: email, template: 'accountExists' })
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
      expect(outcomeOf(await login(goodPassword))).toBe('200')
    })

    it('puts nobody’s password in force though no more mail may go to the address', async () => {
      const host = await openHost({}, kind)
      const email = 'victim@example.org'
      for (let time = 0; time < 4; time += 1) {
        await register(host, surface, { email })
        await host.auth.close()
      }
      const mails = host.mailer.sent.length
      expect(mails).toBe(4)
      const { id } = await storedUser(host, surface, email)
      await storedIn(host, surface).users.take(id)
      await register(host, surface, { email, password: stranger })
      await host.auth.close()
      expect(host.mailer.sent).toHaveLength(mails + 1)
      await register(host, surface, { email })
      await host.auth.close()
      expect(host.mailer.sent).toHaveLength(mails + 1)
      expect(await storedUser(host, surface, email)).toMatchObject({ passwordHash: null })
    })

    it('replaces no choice of an account that was in use before verification was required', async () => {
      const host = await settingsHost({ settings: { emailVerificationRequired: false } }, kind)
      const email = 'ada@example.org'
      await register(host, surface, { email })
      await host.set({ config: { emailVerificationRequired: 'true' } })
      await register(host, surface, { email, password: stranger })
      await host.auth.close()
      expect(host.mailer.sent).toMatchObject([{ to: email, template: 'accountExists' }])
      await host.set({ config: { emailVerificationRequired: 'false' } })
      const login = (password: string) =>
        host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
      expect(outcomeOf(await login(goodPassword))).toBe('200')
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
    })

    it('gives a mailbox back to who resets the password a stranger registered it with', async () => {
      const host = await openHost({}, kind)
      const email = 'victim@example.org'
      await register(host, surface, { email, password: stranger })
      const strangersLink = await mailedToken(host, 'verifyEmail', email)
      await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
      const token = await mailedToken(host, 'resetPassword', email)
      const reset = await host.send('POST', `/v1/auth/${surface}/password/reset`, {
        body: { token, newPassword: goodPassword },
      })
      expect(reset.status).toBe(204)
      const login = (password: string) =>
        host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
      expect(outcomeOf(await login(stranger))).toBe('401 invalid_credentials')
      expect(outcomeOf(await login(goodPassword))).toBe('200')
      const late = await host.send('POST', `/v1/auth/${surface}/email/verify`, {
        body: { token: strangersLink },
      })
      expect(outcomeOf(late)).toBe('400 invalid_token')
    })
  })
})
