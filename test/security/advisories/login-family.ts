import assert from 'node:assert/strict'
import { type OauthHost, storeSettings } from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import { storedIn } from '../../support/hosts/open-host.js'
import { passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { deviceLogin, trustingPerson } from '../../support/people/trusted-device.js'
import type { Family } from './family.js'

const at = (path: string) => `/v1/auth/client${path}`

/** A login that waits for its second factor, and the device that is trusted to skip it. */
export async function ticketFamily(host: OauthHost): Promise<Family> {
  const who = await trustingPerson(host, 'client')
  const ticket = await ticketOf(host, 'client', who)
  const [backupCode = ''] = who.backupCodes
  const body = (mfaToken: string) => ({ mfaToken, method: 'backupCode', code: backupCode })
  return {
    artefacts: {
      'the ticket of a login that waits': { value: ticket, goodAs: ['ticket beside a code'] },
      'the token of a trusted device': {
        value: who.deviceToken,
        goodAs: ['device cookie', 'device token in a body'],
      },
      'a backup code': { value: who.backupCodes[1] ?? '', goodAs: [] },
    },
    slots: {
      // The code is right, and is not spent by a ticket that is none.
      'ticket beside a code': (value) => host.send('POST', at('/login/mfa'), { body: body(value) }),
      'device cookie': (value) => deviceLogin(host, 'client', who, value, 'login'),
      'device token in a body': (value) => deviceLogin(host, 'client', who, value, 'mobile/login'),
    },
  }
}

/** A passkey in place of both factors, and the challenges of the other ceremonies of its holder. */
export async function passkeyFamily(host: OauthHost): Promise<Family> {
  const holder = await passkeyHolder(host, 'client')
  const on = passkeysOn(host, 'client')
  const other = await signedInPerson(host, 'client')
  const given = { bearer: other.bearer, currentPassword: other.password }
  const registering = textOf((await on.startRegistration(given)).json(), 'challengeId')
  const stepUp = await on.begunStepUp(holder.bearer)
  const second = await on.begunLogin(await ticketOf(host, 'client', holder))
  const { challengeId, options } = await on.begunLogin()
  const response = holder.authenticator.get(options)
  return {
    artefacts: {
      'the challenge of a passkey alone': { value: challengeId, goodAs: ['passkey challenge'] },
      'the challenge of a passkey after a password': { value: second.challengeId, goodAs: [] },
      'the challenge of a passkey in a session': { value: stepUp.challengeId, goodAs: [] },
      'the challenge of a new passkey': { value: registering, goodAs: [] },
      'what a passkey has to sign': { value: options.challenge, goodAs: [] },
      'the id of a passkey': { value: holder.credentialId, goodAs: [] },
    },
    slots: { 'passkey challenge': (value) => on.finishLogin(value, response) },
  }
}

/** A password that is too old, and one that needs a factor first. The policy stays as it is then. */
export async function heldUpFamily(host: OauthHost): Promise<Family> {
  const late = await person(host, 'client')
  const longAgo = { passwordChangedAt: host.clock.now() - 366 * 24 * 3_600_000 }
  await storedIn(host, 'client').users.update(late.id, { enabled: true }, longAgo)
  const expired = await passwordLogin(host, 'client', late)
  const lacking = await person(host, 'client')
  await storeSettings(host, { mfaPolicyClient: 'required' })
  const login = await passwordLogin(host, 'client', lacking)
  assert.equal(login.json()['status'], 'mfaEnrollmentRequired')
  return {
    artefacts: {
      'the token of a password that is too old': {
        value: textOf(expired.json(), 'passwordToken'),
        goodAs: ['token of a reset'],
      },
      'the ticket of a login without a factor': {
        value: textOf(login.json(), 'mfaToken'),
        goodAs: ['ticket of an enrolment'],
      },
    },
    slots: {
      'ticket of an enrolment': (value) =>
        host.send('POST', at('/mfa/totp'), { body: { mfaToken: value } }),
    },
  }
}
