import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachFramework, eachSurface } from '../../support/hosts/matrix.js'
import { mailedToken, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled } from '../../support/people/authenticator.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { linkFor, login, reset } from '../../support/people/recovery-steps.js'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`

/** What may come between a link and its use, and voids it. */
type Change = (host: ContractHost, surface: Surface, id: string, bearer: string) => Promise<unknown>

const changes: Readonly<Record<string, Change>> = {
  'a newer one': async (host, surface, id) => {
    const { email = '' } = (await host.auth[surface].users.get(id)) ?? {}
    return linkFor(host, surface, email)
  },
  'a change of the password': (host, surface, _id, bearer) =>
    host.send('POST', at(surface, '/me/password'), {
      bearer,
      body: { currentPassword: goodPassword, newPassword: otherPassword },
    }),
  'a completed change of address': async (host, surface, _id, bearer) => {
    const newEmail = 'moved@example.org'
    const body = { newEmail, currentPassword: goodPassword }
    await host.send('POST', at(surface, '/me/email'), { bearer, body })
    const token = await mailedToken(host, 'changeEmail', newEmail)
    return host.send('POST', at(surface, '/email/verify'), { bearer, body: { token } })
  },
  'a disabling, though it was enabled again': async (host, surface, id) => {
    await host.auth[surface].users.update(id, { enabled: false })
    return host.auth[surface].users.update(id, { enabled: true })
  },
}

eachSurface.describe('a mailed link for a new password', (surface) => {
  it.each(Object.entries(changes))('is void after %s', async (_what, change) => {
    const host = await openHost(withoutLimits)
    const who = await signedInPerson(host, surface)
    const token = await linkFor(host, surface, who.email)
    await change(host, surface, who.id, who.bearer)
    const refused = await reset(host, surface, token, 'the newest of all passwords')
    expect(outcomeOf(refused)).toBe('400 invalid_token')
  })

  it('works once, signs nobody in, and asks for the second factor as ever', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const token = await linkFor(host, surface, who.email)
    const done = await reset(host, surface, token, otherPassword)
    expect([done.status, done.text]).toEqual([204, ''])
    expect(done.setCookies.filter((cookie) => /_(refresh|device)=[^;]/.test(cookie))).toEqual([])
    const again = await reset(host, surface, token, 'the newest of all passwords')
    expect(outcomeOf(again)).toBe('400 invalid_token')
    const next = await login(host, surface, who.email, otherPassword)
    expect([next.json()['status'], 'accessToken' in next.json()]).toEqual(['mfaRequired', false])
    expect((await login(host, surface, who.email, who.password)).status).toBe(401)
  })

  it('proves the address it was mailed to, and no other that is asked for meanwhile', async () => {
    const host = await openHost(withoutLimits)
    const who = await signedInPerson(host, surface)
    const { users } = storedIn(host, surface)
    await users.update(who.id, { email: who.email }, { emailVerifiedAt: null })
    const token = await linkFor(host, surface, who.email)
    await users.update(who.id, { email: who.email }, { email: 'elsewhere@example.org' })
    const refused = await reset(host, surface, token, otherPassword)
    expect(outcomeOf(refused)).toBe('400 invalid_token')
    expect((await users.get(who.id))?.emailVerifiedAt).toBeNull()
  })
})

eachFramework.describe('opening a mailed link', (kind) => {
  it('consumes nothing, as scanners, prefetches and forms without JSON do it; the POST does', async () => {
    const host = await openHost(withoutLimits, kind)
    const raw = rawClient(host.url)
    const { email } = await person(host, 'client')
    const reading = await linkFor(host, 'client', email)
    await host.auth.client.users.create({ email: 'new@example.org', password: goodPassword })
    const body = { email: 'new@example.org' }
    await host.send('POST', at('client', '/email/verify/resend'), { body })
    const confirming = await mailedToken(host, 'verifyEmail', 'new@example.org')
    const paths = { '/password/reset': reading, '/email/verify': confirming }
    const headers = { purpose: 'prefetch', 'sec-purpose': 'prefetch', 'sec-fetch-mode': 'navigate' }
    for (const [path, token] of Object.entries(paths)) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const query = new URLSearchParams({ token, newPassword: otherPassword })
        const reply = await raw(method, `${at('client', path)}?${query}`, { headers })
        expect(reply.status).toBeGreaterThanOrEqual(method === 'OPTIONS' ? 200 : 400)
      }
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const posted = await raw('POST', at('client', path), {
        headers: form,
        body: `token=${token}`,
      })
      expect(posted.status).toBe(415)
    }
    expect((await login(host, 'client', email, goodPassword)).status).toBe(200)
    const shown = { token: confirming, newPassword: goodPassword }
    const verified = await host.send('POST', at('client', '/email/verify'), { body: shown })
    expect(verified.status).toBe(200)
    expect((await reset(host, 'client', reading, otherPassword)).status).toBe(204)
  })
})
