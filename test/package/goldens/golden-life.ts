import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../../src/ports/store.js'
import { type OauthHost, oauthHost } from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import { codeOf, textsOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { otherPassword, person, signIn, signInApp } from '../../support/people/people.js'
import { registerHere } from '../../support/people/registration-steps.js'
import {
  administrator,
  peopleMay,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { deviceTokenOf, finishTrusting, trusting } from '../../support/people/trusted-device.js'

/** The documents of each collection, by its name. */
export type Documents = Readonly<Record<string, readonly Doc[]>>

/** What the people of the documents know. */
export interface Facts {
  /** Epoch milliseconds when the documents were read. */
  readonly at: number
  /** Has a password, an authenticator app, backup codes, a trusted device and a mailed link. */
  readonly person: {
    readonly id: string
    readonly email: string
    readonly password: string
    readonly totpSecret: string
    readonly backupCode: string
    readonly deviceToken: string
    readonly resetToken: string
    /** The claims of the refresh token of an app. */
    readonly refreshClaims: Readonly<Record<string, unknown>>
  }
  readonly holder: { readonly id: string; readonly email: string; readonly credentialId: string }
  readonly linked: { readonly userId: string; readonly subject: string; readonly email: string }
  readonly machine: { readonly clientId: string; readonly clientSecret: string }
}

/** Fixed, because the documents hold what was encrypted by it; of a text, because it protects nothing. */
const configKeys = [
  { id: 'golden', key: createHash('sha256').update('the key of the goldens').digest('base64') },
]

/** A host on whose store the documents were written, or are put to be read. */
export const goldenHost = (backend: Backend): Promise<OauthHost> =>
  oauthHost({
    settings: { ...trusting.settings, webauthnMode: 'passwordless' },
    configKeys,
    authorizer: peopleMay,
    backend,
  })

async function livePerson(host: OauthHost): Promise<Facts['person']> {
  const who = await person(host, 'client')
  const { bearer } = await signIn(host, 'client', who)
  const totp = '/v1/auth/client/mfa/totp'
  const begun = await host.send('POST', totp, { bearer, body: { currentPassword: who.password } })
  const totpSecret = textOf(begun.json(), 'secret')
  const app = await signInApp(host, 'client', who)
  const given = { bearer, body: { code: codeOf(host, totpSecret) } }
  const confirmed = await host.send('POST', `${totp}/confirm`, given)
  assert.equal(confirmed.status, 200, confirmed.text)
  const [, backupCode = ''] = textsOf(confirmed.json(), 'backupCodes')
  const secrets = { totpSecret, backupCode }
  assert.ok(app.refreshToken)
  return { ...who, ...secrets, ...(await trustedPerson(host, who, totpSecret)) }
}

/** Trusts a device, signs in with an app, shows a factor again, and asks for a mailed link. */
async function trustedPerson(
  host: OauthHost,
  who: { readonly email: string; readonly password: string },
  totpSecret: string,
): Promise<Pick<Facts['person'], 'deviceToken' | 'resetToken' | 'refreshClaims'>> {
  const { email, password } = who
  const post = (path: string, body: object, bearer?: string) =>
    host.send('POST', `/v1/auth/client${path}`, { body, ...(bearer ? { bearer } : {}) })
  const ticket = async (door: string) =>
    textOf((await post(door, { email, password })).json(), 'mfaToken')
  const nextCode = async () => {
    await host.auth.close()
    await host.clock.advance(30_000)
    return codeOf(host, totpSecret)
  }
  const trusted = await finishTrusting(host, 'client', await ticket('/login'), await nextCode())
  const mobile = { mfaToken: await ticket('/mobile/login'), method: 'totp' }
  const app = await post('/login/mfa', { ...mobile, code: await nextCode() })
  assert.equal(app.status, 200, app.text)
  const bearer = textOf(app.json(), 'accessToken')
  const proof = await post('/step-up', { method: 'totp', code: await nextCode() }, bearer)
  assert.equal(proof.status, 200, proof.text)
  const refreshed = await post('/refresh', { refreshToken: textOf(app.json(), 'refreshToken') })
  assert.equal(refreshed.status, 200, refreshed.text)
  // A login that waits for its second factor.
  await ticket('/login')
  await post('/password/forgot', { email })
  await host.auth.close()
  return {
    deviceToken: deviceTokenOf(trusted, 'client', 'login'),
    resetToken: host.mailer.last('resetPassword', email).data.token,
    refreshClaims: decodeJwt(textOf(refreshed.json(), 'refreshToken')),
  }
}

async function liveHolder(host: OauthHost): Promise<Facts['holder']> {
  const { id, email, credentialId, bearer, password } = await passkeyHolder(host, 'client')
  const change = { currentPassword: password, newPassword: otherPassword }
  const changed = await host.send('POST', '/v1/auth/client/me/password', { bearer, body: change })
  assert.equal(changed.status, 204, changed.text)
  await passkeysOn(host, 'client').begunLogin()
  return { id, email, credentialId }
}

/** Comes by Google, in a browser and in an app, and once without coming back. */
async function liveLinked(host: OauthHost): Promise<Facts['linked']> {
  const account = { subject: '70123', email: 'by-google@example.org', verified: true }
  const session = await host.signInApp('client', 'google', account)
  assert.equal(session.status, 200, session.text)
  await host.depart('client', 'google')
  const me = { bearer: textOf(session.json(), 'accessToken') }
  const { id } = (await host.send('GET', '/v1/auth/client/me', me)).json()
  return { userId: String(id), subject: account.subject, email: account.email }
}

/** Changes a setting, defines a role and gives it away, and makes a service account. */
async function administer(host: OauthHost, userId: string): Promise<Facts['machine']> {
  await host.auth.config.change('auth', { config: { backupCodeCount: '9' } })
  const role = { name: 'clerk', permissions: ['orders.read'], tenantId: 'shop' }
  const { id } = await host.auth.client.roles.define(role)
  await host.auth.client.roles.bind({ userId, roleId: id, tenantId: 'shop' })
  const { clientId, clientSecret } = await serviceAccount(host, await administrator(host))
  return { clientId, clientSecret }
}

/** Has something written to nearly every collection. `idsOf` reads the ids of a collection past the library. */
export async function goldenLife(
  backend: Backend,
  idsOf: (collection: string) => readonly string[],
): Promise<{ readonly facts: Facts; readonly documents: Documents }> {
  const host = await goldenHost(backend)
  const account = await livePerson(host)
  const holder = await liveHolder(host)
  const linked = await liveLinked(host)
  const machine = await administer(host, account.id)
  await host.auth.client.users.delete((await person(host, 'client')).id)
  await registerHere(host, 'client', { email: 'registering@example.org' })
  await host.auth.close()
  const facts = { at: host.clock.now(), person: account, holder, linked, machine }
  return { facts, documents: await documentsIn(backend, idsOf) }
}

/** Every document with these ids, as the library reads it. */
export async function documentsIn(
  { store }: Pick<Backend, 'store'>,
  idsOf: (collection: string) => readonly string[],
): Promise<Documents> {
  const documents: Record<string, readonly Doc[]> = {}
  for (const spec of allCollectionSpecs('')) {
    const found = idsOf(spec.name).map((id) =>
      store.collection(spec as CollectionSpec<Doc>).get(id),
    )
    const docs = (await Promise.all(found)).filter((doc) => doc !== null)
    if (docs.length > 0) documents[spec.name] = docs
  }
  return documents
}
