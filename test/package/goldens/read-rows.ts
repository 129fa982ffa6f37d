import { importPKCS8, SignJWT } from 'jose'
import { expect } from 'vitest'
import type { Backend } from '../../../src/ports/backend.js'
import type { OauthHost } from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import { testSigningKey } from '../../support/keys.js'
import { codeOf } from '../../support/people/authenticator.js'
import { passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import { tokenOf } from '../../support/people/service-account-steps.js'
import { comesTo, deviceLogin } from '../../support/people/trusted-device.js'
import { type Facts, goldenHost } from './golden-life.js'

const client = '/v1/auth/client'

/** A token as the release signed it, by the key of this host: header and claims are what is frozen. */
async function signed(host: OauthHost, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const { keys } = JSON.parse((await host.send('GET', `${client}/jwks`)).text)
  const header = { alg: 'RS256', typ: 'rt+jwt', kid: String(keys[0].kid) }
  const key = await importPKCS8(await testSigningKey(), 'RS256')
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}

/** By password and by each second factor that the rows hold. */
async function logins(host: OauthHost, { person }: Facts): Promise<void> {
  const { email, password } = person
  const first = async (): Promise<string> => {
    const reply = await host.send('POST', `${client}/login`, { body: { email, password } })
    expect(comesTo(reply)).toBe('mfaRequired')
    return textOf(reply.json(), 'mfaToken')
  }
  const second = async (method: string, code: string) => {
    const body = { mfaToken: await first(), method, code }
    return comesTo(await host.send('POST', `${client}/login/mfa`, { body }))
  }
  expect(await second('totp', codeOf(host, person.totpSecret))).toBe('authenticated')
  expect(await second('backupCode', person.backupCode)).toBe('authenticated')
  expect(await second('backupCode', person.backupCode)).toBe('401 invalid_mfa_code')
  const known = await deviceLogin(host, 'client', person, person.deviceToken, 'login')
  expect(comesTo(known)).toBe('authenticated')
}

/** What people see of what they have, and what may not be used again. */
async function belongings(host: OauthHost, { holder, linked, person }: Facts): Promise<void> {
  const body = { email: holder.email, password: otherPassword }
  const login = await host.send('POST', `${client}/login`, { body })
  // The passkey is a second factor of the account.
  expect(comesTo(login)).toBe('mfaRequired')
  const app = { subject: linked.subject, email: linked.email, verified: true }
  const session = await host.signInApp('client', 'google', app)
  const bearer = textOf(session.json(), 'accessToken')
  const me = await host.send('GET', `${client}/me`, { bearer })
  expect(me.json()['id']).toBe(linked.userId)
  const data = await host.auth.client.users.export(holder.id)
  expect(JSON.stringify(data)).toContain(holder.credentialId)
  const { records } = await host.auth.client.audit.ofTarget(person.id)
  expect(records.map(({ action }) => action)).toContain('login.succeeded')
  const [binding] = await host.auth.client.roles.bindingsOf(person.id)
  expect(binding).toMatchObject({ tenantId: 'shop' })
  expect((await host.auth.config.view('auth')).config).toMatchObject({ backupCodeCount: '9' })
  const listed = await host.auth.client.registrations.list()
  expect(JSON.stringify(listed)).toContain('registering@example.org')
}

/** What was handed out is still good, and once where it was good once. */
async function handedOut(host: OauthHost, { person, machine }: Facts): Promise<void> {
  expect(await tokenOf(host, machine)).toMatch(/^eyJ/)
  const refreshToken = await signed(host, person.refreshClaims)
  const refreshed = await host.send('POST', `${client}/refresh`, { body: { refreshToken } })
  expect([refreshed.status, refreshed.text]).toEqual([200, expect.stringContaining('accessToken')])
  const bearer = textOf(refreshed.json(), 'accessToken')
  expect((await passkeysOn(host, 'client').list(bearer)).status).toBe(200)
  const reset = (newPassword: string) =>
    host.send('POST', `${client}/password/reset`, {
      body: { token: person.resetToken, newPassword },
    })
  expect((await reset(goodPassword)).code).toBe('password_policy')
  expect((await reset('one more wholly different passphrase')).status).toBe(204)
  expect((await reset('and yet another different passphrase')).code).toBe('invalid_token')
}

/** What people do on a host of today's code, whose store holds these rows. */
export async function readRows(backend: Backend, facts: Facts): Promise<void> {
  const host = await goldenHost(backend)
  // A time step later, since a code is good once.
  await host.clock.advance(facts.at - host.clock.now() + 30_000)
  await logins(host, facts)
  await belongings(host, facts)
  await handedOut(host, facts)
  await host.auth.close()
}
