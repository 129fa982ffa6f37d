import assert from 'node:assert/strict'
import { inApp, mailedCodeFor } from '../../contract/login/mailed-code-steps.js'
import { memberOf, type OauthHost, storeSettings } from '../../contract/oauth/oauth-host.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { mailedToken, storedIn } from '../../support/hosts/open-host.js'
import { codeOf, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, signIn } from '../../support/people/people.js'
import { at, type Begun, publicly, type Start, surface } from './begun.js'
import { appCode, appFlow, codeAfterGoogle, link, webFlow } from './provider-starts.js'
import { type Has, nextCode, post, reAuthenticated, type Subject, subjectOf } from './subject.js'

async function verification(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'nothing', { emailVerified: false })
  await publicly(subject, '/email/verify/resend', { email: subject.email })
  const token = await mailedToken(host, 'verifyEmail', subject.email)
  const body = { token, newPassword: 'the newest of all passwords' }
  return { subject, finish: () => publicly(subject, '/email/verify', body) }
}

async function confirmed(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'nothing', { emailVerified: false })
  await publicly(subject, '/email/verify/resend', { email: subject.email })
  const token = await mailedToken(host, 'verifyEmail', subject.email)
  const body = { token, registrationKey: 'k'.repeat(43) }
  const first = await publicly(subject, '/email/verify', { ...body, newPassword: goodPassword })
  assert.equal(first.status, 200, first.text)
  const finish = () => publicly(subject, '/email/verify', body)
  return { subject, finish, elsewhere: () => publicly(subject, '/email/verify', { token }) }
}

/** Beside an account of somebody else: there is none to change yet. */
async function registration(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'nothing')
  await storeSettings(host, { emailVerificationRequired: 'true' })
  const email = `registered-${subject.email}`
  await publicly(subject, '/register', { email, password: goodPassword })
  const token = await mailedToken(host, 'verifyEmail', email)
  const body = { token, newPassword: goodPassword }
  return { subject, finish: () => publicly(subject, '/email/verify', body) }
}

const addressChange = (has: Has, by: 'session' | 'password') => async (host: OauthHost) => {
  const subject = await subjectOf(host, has)
  const newEmail = `new-${subject.email}`
  const asked = await post(subject, '/me/email', { newEmail, ...(await reAuthenticated(subject)) })
  assert.equal(asked.status, 202, asked.text)
  const token = await mailedToken(host, 'changeEmail', newEmail)
  const finish = () =>
    by === 'session'
      ? post(subject, '/email/verify', { token })
      : publicly(subject, '/email/verify', { token, currentPassword: goodPassword })
  return { subject, finish, elsewhere: () => publicly(subject, '/email/verify', { token }) }
}

const reset = (has: Has) => async (host: OauthHost) => {
  const subject = await subjectOf(host, has)
  await publicly(subject, '/password/forgot', { email: subject.email })
  const token = await mailedToken(host, 'resetPassword', subject.email)
  const body = { token, newPassword: 'the newest of all passwords' }
  return { subject, finish: () => publicly(subject, '/password/reset', body) }
}

async function expired(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'nothing')
  const longAgo = { passwordChangedAt: host.clock.now() - 366 * 24 * 3600 * 1000 }
  await storedIn(host, surface).users.update(subject.id, { enabled: true }, longAgo)
  const token = textOf((await passwordLogin(host, surface, subject)).json(), 'passwordToken')
  const body = { token, newPassword: 'the newest of all passwords' }
  return { subject, finish: () => publicly(subject, '/password/reset', body) }
}

async function codeAfterPassword(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'an app')
  const mfaToken = await ticketOf(host, surface, subject)
  const finish = async () => {
    const code = await nextCode(subject)
    return publicly(subject, '/login/mfa', { mfaToken, method: 'totp', code })
  }
  return { subject, finish }
}

/** The same account in a session that did not begin the intent. */
async function otherSession(subject: Subject): Promise<Subject> {
  const { host, authenticator } = subject
  if (authenticator === null) return { ...subject, ...(await signIn(host, surface, subject)) }
  const on = passkeysOn(host, surface)
  const { challengeId, options } = await on.begunLogin()
  const login = await on.finishLogin(challengeId, authenticator.get(options))
  return { ...subject, bearer: textOf(login.json(), 'accessToken') }
}

/** A login that the policy sends to enroll a factor. */
async function lackingLogin(host: OauthHost) {
  const subject = await subjectOf(host, 'nothing')
  await storeSettings(host, { mfaPolicyClient: 'required' })
  const login = await passwordLogin(host, surface, subject)
  return { subject, mfaToken: textOf(login.json(), 'mfaToken') }
}

async function appInLogin(host: OauthHost): Promise<Begun> {
  const { subject, mfaToken } = await lackingLogin(host)
  const begun = await publicly(subject, '/mfa/totp', { mfaToken })
  const secret = textOf(begun.json(), 'secret')
  const finish = () =>
    publicly(subject, '/mfa/totp/confirm', { mfaToken, code: codeOf(host, secret) })
  return { subject, finish }
}

async function passkeyInLogin(host: OauthHost): Promise<Begun> {
  const { subject, mfaToken } = await lackingLogin(host)
  const on = passkeysOn(host, surface)
  const { challengeId, options } = JSON.parse((await on.startRegistration({ mfaToken })).text)
  const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
  return { subject, finish: () => on.finishRegistration({ mfaToken }, challengeId, response) }
}

const appInSession = (has: Has) => async (host: OauthHost) => {
  const subject = await subjectOf(host, has)
  const begun = await post(subject, '/mfa/totp', await reAuthenticated(subject))
  const secret = textOf(begun.json(), 'secret')
  const confirm = (who: Subject) => post(who, '/mfa/totp/confirm', { code: codeOf(host, secret) })
  const finish = () => confirm(subject)
  return { subject, finish, elsewhere: async () => confirm(await otherSession(subject)) }
}

const passkeyInSession = (has: Has) => async (host: OauthHost) => {
  const subject = await subjectOf(host, has)
  const on = passkeysOn(host, surface)
  const { bearer } = subject
  const given = { bearer, ...(await reAuthenticated(subject)) }
  const { challengeId, options } = JSON.parse((await on.startRegistration(given)).text)
  const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
  const finishWith = (who: Pick<Subject, 'bearer'>) =>
    on.finishRegistration({ bearer: who.bearer }, challengeId, response)
  const finish = () => finishWith({ bearer })
  return { subject, finish, elsewhere: async () => finishWith(await otherSession(subject)) }
}

async function passkeyAfterPassword(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'a passkey')
  const on = passkeysOn(host, surface)
  const mfaToken = await ticketOf(host, surface, subject)
  const { challengeId, options } = await on.begunLogin(mfaToken)
  const response = subject.authenticator?.get(options)
  const elsewhere = async () =>
    on.finishLogin(challengeId, response, await ticketOf(host, surface, subject))
  return { subject, finish: () => on.finishLogin(challengeId, response, mfaToken), elsewhere }
}

async function passkeyAlone(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'a passkey')
  const on = passkeysOn(host, surface)
  const { challengeId, options } = await on.begunLogin()
  const response = subject.authenticator?.get(options)
  return { subject, finish: () => on.finishLogin(challengeId, response) }
}

async function passkeyStepUp(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'a passkey')
  const on = passkeysOn(host, surface)
  const { challengeId, options } = await on.begunStepUp(subject.bearer)
  const response = subject.authenticator?.get(options)
  const finishWith = ({ bearer }: Subject) => on.finishStepUp(bearer, challengeId, response)
  const finish = () => finishWith(subject)
  return { subject, finish, elsewhere: async () => finishWith(await otherSession(subject)) }
}

async function mailedCode(host: OauthHost): Promise<Begun> {
  const subject = await subjectOf(host, 'nothing')
  const { code, codeKey } = await mailedCodeFor(host, surface, subject.email, inApp)
  const given = { ...inApp, body: { code, codeKey } }
  return { subject, finish: () => host.send('POST', at('/login/code/verify'), given) }
}

/** By name, as the rows of the table. */
export const starts = {
  'a link that confirms a registration': { kinds: ['register'], begin: registration },
  'a link that confirms an address': { kinds: ['verifyEmail'], begin: verification },
  'a link that confirmed an address': { kinds: ['confirmedLink'], begin: confirmed },
  'a link to another address, in the session that asked': {
    kinds: ['changeEmail'],
    begin: addressChange('nothing', 'session'),
  },
  'a link to another address, with the password': {
    kinds: ['changeEmail'],
    begin: addressChange('nothing', 'password'),
  },
  'a link to another address of an account with an app': {
    kinds: ['changeEmail'],
    begin: addressChange('an app', 'session'),
  },
  'a link for a new password': { kinds: ['resetPassword'], begin: reset('nothing') },
  'a link for a new password of an account with an app': {
    kinds: ['resetPassword'],
    begin: reset('an app'),
  },
  'a password that is too old': { kinds: ['expiredPassword'], begin: expired },
  'a mailed code': { kinds: ['mailedCode'], begin: mailedCode },
  'a code after a password': { kinds: ['secondFactor'], begin: codeAfterPassword },
  'a code after Google': { kinds: ['secondFactor'], begin: codeAfterGoogle },
  'a passkey after a password': {
    kinds: ['secondFactor', 'passkeySecondFactor'],
    begin: passkeyAfterPassword,
  },
  'an app enrolled in a login': { kinds: ['enrollment', 'totpEnrollment'], begin: appInLogin },
  'a passkey registered in a login': {
    kinds: ['enrollment', 'passkeyRegistration'],
    begin: passkeyInLogin,
  },
  'an app enrolled in a session': { kinds: ['totpEnrollment'], begin: appInSession('nothing') },
  'an app enrolled beside a passkey': {
    kinds: ['totpEnrollment'],
    begin: appInSession('a passkey'),
  },
  'a passkey registered in a session': {
    kinds: ['passkeyRegistration'],
    begin: passkeyInSession('nothing'),
  },
  'a passkey registered beside an app': {
    kinds: ['passkeyRegistration'],
    begin: passkeyInSession('an app'),
  },
  'a passkey in place of both factors': { kinds: ['passkeyLogin'], begin: passkeyAlone },
  'a passkey proved in a session': { kinds: ['passkeyStepUp'], begin: passkeyStepUp },
  'a browser at Google': { kinds: ['oauthWeb'], begin: webFlow },
  'an app at Google': { kinds: ['oauthApp'], begin: appFlow },
  'an account at Google linked in a session': { kinds: ['oauthLink'], begin: link('nothing') },
  'an account at Google linked beside an app': { kinds: ['oauthLink'], begin: link('an app') },
  'the code of an app': { kinds: ['appCode'], begin: appCode },
} as const satisfies Readonly<Record<string, Start>>

export type StartName = keyof typeof starts

/** What came of a request: where it led, or its status and code. */
export function outcomeOf(reply: Reply): string {
  if ([302, 303].includes(reply.status)) {
    const error = memberOf(reply, 'error')
    return error === '' ? 'good' : error
  }
  return reply.status < 300 ? 'good' : `${reply.status} ${reply.code}`
}
