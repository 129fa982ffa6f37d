import assert from 'node:assert/strict'
import { inApp, mailedCodeFor } from '../../contract/login/mailed-code-steps.js'
import type { OauthHost } from '../../contract/oauth/oauth-host.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { linkFor } from '../../support/people/recovery-steps.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'
import type { Family } from './family.js'

const at = (path: string) => `/v1/auth/client${path}`

/** Two registrations, each with what its browser keeps: one slot is for the link, the other for the key. */
export async function registrationFamily(host: OauthHost): Promise<Family> {
  const [first, second] = ['first@example.org', 'second@example.org'] as const
  const one = await registerHere(host, 'client', { email: first })
  const other = await registerHere(host, 'client', { email: second })
  const link = await mailedToken(host, 'verifyEmail', first)
  const itsLink = await mailedToken(host, 'verifyEmail', second)
  const [name, key = ''] = other.cookie.split('=')
  return {
    artefacts: {
      'the link of a registration': {
        value: link,
        goodAs: ['link in the browser that registered', 'link with a new password'],
      },
      'the key of a registration': { value: key, goodAs: ['registration cookie'] },
    },
    slots: {
      'link in the browser that registered': (value) =>
        verifyWith(host, 'client', { token: value }, one.cookie),
      'registration cookie': (value) =>
        verifyWith(host, 'client', { token: itsLink }, `${name}=${value}`),
      'link with a new password': (value) =>
        verifyWith(host, 'client', { token: value, newPassword: goodPassword }),
    },
  }
}

/** The links of accounts: to confirm their address, to move to another one, and to a new password. */
export async function mailFamily(host: OauthHost): Promise<Family> {
  const unproved = 'unproved@example.org'
  const account = { email: unproved, password: goodPassword, emailVerified: false }
  await host.auth.client.users.create(account)
  await host.send('POST', at('/email/verify/resend'), { body: { email: unproved } })
  const confirmation = await mailedToken(host, 'verifyEmail', unproved)
  const { bearer } = await signedInPerson(host, 'client')
  const newEmail = 'moved@example.org'
  const asked = { newEmail, currentPassword: goodPassword }
  const moving = await host.send('POST', at('/me/email'), { bearer, body: asked })
  assert.equal(moving.status, 202, moving.text)
  const move = await mailedToken(host, 'changeEmail', newEmail)
  const coded = await person(host, 'client')
  const { code, codeKey } = await mailedCodeFor(host, 'client', coded.email, inApp)
  const forgetful = await person(host, 'client')
  const reset = await linkFor(host, 'client', forgetful.email)
  return {
    artefacts: {
      'a link that confirms an address': {
        value: confirmation,
        goodAs: ['link with a new password'],
      },
      'a link to another address': { value: move, goodAs: ['link of the session that asked'] },
      'a link for a new password': { value: reset, goodAs: ['token of a reset'] },
      'the key of a mailed code': { value: codeKey, goodAs: ['key beside a mailed code'] },
    },
    slots: {
      'link of the session that asked': (value) =>
        host.send('POST', at('/email/verify'), { bearer, body: { token: value } }),
      'key beside a mailed code': (value) => {
        const given = { ...inApp, body: { code, codeKey: value } }
        return host.send('POST', at('/login/code/verify'), given)
      },
      'token of a reset': (value) =>
        host.send('POST', at('/password/reset'), {
          body: { token: value, newPassword: otherPassword },
        }),
    },
  }
}
