import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import { type OauthHost, oauthHost } from '../../contract/oauth/oauth-host.js'
import type { HostKind } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { codeOf } from '../../support/people/authenticator.js'
import {
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { goodPassword, type Person, signIn } from '../../support/people/people.js'

/** What an account has to show a second factor with when an intent begins. */
export type Has = 'nothing' | 'an app' | 'a passkey'

/** An account with the session in which things are asked for and changed. */
export interface Subject extends Person {
  readonly host: OauthHost
  readonly surface: Surface
  readonly bearer: string
  /** The secret of the app, while there is one. */
  secret: string | null
  authenticator: SoftwareAuthenticator | null
  credentialId: string
}

/** Every door is open, nobody has to prove a mailbox before the first login, and no limit is met. */
export function openWorld(kind: HostKind): Promise<OauthHost> {
  const settings = {
    emailVerificationRequired: false,
    webauthnMode: 'passwordless',
    mfaPolicyClient: 'optional',
    passwordMaxAge: '365d',
  } as const
  return oauthHost({ settings }, kind)
}

interface Standing {
  readonly emailVerified: boolean
  /** The clients', unless a door is the operators' alone. */
  readonly surface: Surface
}

let subjects = 0

/** Made by the host, with a role and a tenant that can be taken away. */
export async function subjectOf(
  host: OauthHost,
  has: Has,
  { emailVerified = true, surface = 'client' }: Partial<Standing> = {},
): Promise<Subject> {
  subjects += 1
  const email = `subject-${process.pid}-${subjects}@example.org`
  const { id } = await host.auth[surface].users.create({
    ...{ email, password: goodPassword, name: 'Ada', emailVerified },
    ...{ systemRole: 'editor', memberships: [{ tenantId: 'acme' }] },
  })
  const who = { id, email, password: goodPassword }
  const { bearer } = await signIn(host, surface, who)
  const nothing = { secret: null, authenticator: null, credentialId: '' }
  const subject: Subject = { ...who, host, surface, bearer, ...nothing }
  if (has === 'an app') await addApp(subject)
  if (has === 'a passkey') await addPasskey(subject)
  return subject
}

export async function nextCode({ host, secret }: Subject): Promise<string> {
  // What is still on its way to the store would time out.
  await host.auth.close()
  await host.clock.advance(30_000)
  return codeOf(host, secret ?? assert.fail('there is no app'))
}

export const post = ({ host, surface, bearer }: Subject, path: string, body: object) =>
  host.send('POST', `/v1/auth/${surface}${path}`, { bearer, body })

/** What a change of how to sign in is asked for with: a proof of this session, or the password. */
export async function reAuthenticated(subject: Subject): Promise<{ currentPassword?: string }> {
  const { host, surface, bearer, secret, authenticator, password } = subject
  if (secret !== null) {
    const body = { method: 'totp', code: await nextCode(subject) }
    assert.equal((await post(subject, '/step-up', body)).status, 200)
  } else if (authenticator !== null) {
    const proved = await passkeysOn(host, surface).stepUp(bearer, authenticator)
    assert.equal(proved.status, 200, proved.text)
  }
  return secret === null && authenticator === null && password !== ''
    ? { currentPassword: password }
    : {}
}

export async function addApp(subject: Subject): Promise<void> {
  const begun = await post(subject, '/mfa/totp', await reAuthenticated(subject))
  assert.equal(begun.status, 201, begun.text)
  const secret = textOf(begun.json(), 'secret')
  const code = codeOf(subject.host, secret)
  const done = await post(subject, '/mfa/totp/confirm', { code })
  assert.equal(done.status, 200, done.text)
  subject.secret = secret
}

export async function addPasskey(subject: Subject): Promise<void> {
  const { host, surface, bearer } = subject
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const given = { bearer, ...(await reAuthenticated(subject)) }
  const done = await passkeysOn(host, surface).register(given, authenticator)
  assert.equal(done.status, 201, done.text)
  subject.authenticator ??= authenticator
  subject.credentialId = textOf(done.json(), 'credentialId')
}
