import assert from 'node:assert/strict'
import {
  appVerifier,
  flowCookieOf,
  memberOf,
  type OauthHost,
  storeSettings,
  webTarget,
} from '../../contract/oauth/oauth-host.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { codeOf } from '../../support/people/authenticator.js'
import { at, type Begun, publicly, surface } from './begun.js'
import {
  addApp,
  type Has,
  nextCode,
  post,
  reAuthenticated,
  type Subject,
  subjectOf,
} from './subject.js'

const google = (email: string) => ({ subject: `of ${email}`, email, verified: true })

/** Somebody who came by Google and has no password. */
async function byGoogle(host: OauthHost): Promise<Subject> {
  const email = `google-${process.pid}-${Date.now()}-${Math.random()}@gmail.com`
  const first = await host.signIn(surface, 'google', google(email))
  const cookie = refreshCookieOf(first, surface)
  const session = await host.send('POST', at('/refresh-cookie'), { cookie })
  const bearer = textOf(session.json(), 'accessToken')
  const { id } = (await host.auth[surface].users.findByEmail(email)) ?? assert.fail('no account')
  const nothing = { secret: null, authenticator: null, credentialId: '', password: '' }
  return { id, email, host, surface, bearer, ...nothing }
}

export async function codeAfterGoogle(host: OauthHost): Promise<Begun> {
  const subject = await byGoogle(host)
  await addApp(subject)
  const back = await host.signIn(surface, 'google', google(subject.email))
  const mfaToken = memberOf(back, 'ticket')
  const cookie = flowCookieOf(back)
  const body = async () => ({ mfaToken, method: 'totp', code: await nextCode(subject) })
  const finish = async () => host.send('POST', at('/login/mfa'), { cookie, body: await body() })
  return { subject, finish, elsewhere: async () => publicly(subject, '/login/mfa', await body()) }
}

/** A login by Google that the policy sends to enroll a factor. */
export async function appInLoginByGoogle(host: OauthHost): Promise<Begun> {
  const subject = await byGoogle(host)
  await storeSettings(host, { mfaPolicyClient: 'required' })
  const back = await host.signIn(surface, 'google', google(subject.email))
  const mfaToken = memberOf(back, 'ticket')
  const cookie = flowCookieOf(back)
  const begun = await host.send('POST', at('/mfa/totp'), { cookie, body: { mfaToken } })
  const body = { mfaToken, code: codeOf(host, textOf(begun.json(), 'secret')) }
  const finish = () => host.send('POST', at('/mfa/totp/confirm'), { cookie, body })
  return { subject, finish, elsewhere: () => publicly(subject, '/mfa/totp/confirm', body) }
}

export async function webFlow(host: OauthHost): Promise<Begun> {
  const subject = await byGoogle(host)
  const { authorizationUrl, cookie } = await host.depart(surface, 'google')
  const answer = host.stub.agree(authorizationUrl, google(subject.email))
  const finish = () => host.comeBack(surface, 'google', answer, cookie)
  return { subject, finish, elsewhere: () => host.comeBack(surface, 'google', answer) }
}

export async function appFlow(host: OauthHost): Promise<Begun> {
  const subject = await byGoogle(host)
  const url = await host.departFromApp(surface, 'google')
  const answer = host.stub.agree(url, google(subject.email))
  return { subject, finish: () => host.comeBack(surface, 'google', answer) }
}

export async function appCode(host: OauthHost): Promise<Begun> {
  const { subject, finish } = await appFlow(host)
  const code = memberOf(await finish(), 'code')
  const exchange = (codeVerifier: string) =>
    publicly(subject, '/mobile/oauth/exchange', { code, codeVerifier })
  const elsewhere = () => exchange(appVerifier.split('').reverse().join(''))
  return { subject, finish: () => exchange(appVerifier), elsewhere }
}

/** Linking is for operators. */
export const link = (has: Has) => async (host: OauthHost) => {
  const subject = await subjectOf(host, has, { surface: 'operator' })
  const more = { redirectUri: webTarget.operator, ...(await reAuthenticated(subject)) }
  const begun = await post(subject, '/oauth/google/link', more)
  const url = textOf(begun.json(), 'authorizationUrl')
  const answer = host.stub.agree(url, google(`linked-${subject.email}`))
  const cookie = flowCookieOf(begun)
  const finish = () => host.comeBack('operator', 'google', answer, cookie)
  return { subject, finish, elsewhere: () => host.comeBack('operator', 'google', answer) }
}
