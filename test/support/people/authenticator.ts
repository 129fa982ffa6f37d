import assert from 'node:assert/strict'
import { generateSync } from 'otplib'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../hosts/hosts.js'
import { type Reply, textOf } from '../hosts/http-client.js'
import { type Person, person, type SignedIn, signIn } from './people.js'

/** Somebody with an authenticator app, signed in, with the backup codes they were shown. */
export interface Enrolled extends Person, SignedIn {
  readonly backupCodes: readonly string[]
  /** The code the app shows now. A code is good once: see `nextCode`. */
  code(): string
  /** Waits for the next time step, and reads the code. */
  nextCode(): Promise<string>
}

export function codeOf(host: ContractHost, secret: string): string {
  return generateSync({ secret, epoch: Math.floor(host.clock.now() / 1000) })
}

export function textsOf(body: Record<string, unknown>, name: string): readonly string[] {
  const value = body[name]
  assert.ok(Array.isArray(value), `"${name}" is a list`)
  return value.map(String)
}

/** Enrolls over HTTP. The session was opened with the password alone. */
export async function enrolled(host: ContractHost, surface: Surface): Promise<Enrolled> {
  const who = await person(host, surface)
  const session = await signIn(host, surface, who)
  const base = `/v1/auth/${surface}/mfa/totp`
  const { bearer } = session
  const begun = await host.send('POST', base, { bearer, body: { currentPassword: who.password } })
  assert.equal(begun.status, 201, begun.text)
  const secret = textOf(begun.json(), 'secret')
  const code = () => codeOf(host, secret)
  const done = await host.send('POST', `${base}/confirm`, { bearer, body: { code: code() } })
  assert.equal(done.status, 200, done.text)
  return {
    ...who,
    ...session,
    backupCodes: textsOf(done.json(), 'backupCodes'),
    code,
    async nextCode() {
      // What is still on its way to the store would time out.
      await host.auth.close()
      await host.clock.advance(30_000)
      return code()
    },
  }
}

/** The first half of a login: the password alone. */
export function passwordLogin(
  host: ContractHost,
  surface: Surface,
  { email, password }: Person,
  door: 'login' | 'mobile/login' = 'login',
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/${door}`, { body: { email, password } })
}

/** The ticket of a login that asks for a second factor. */
export async function ticketOf(
  host: ContractHost,
  surface: Surface,
  who: Person,
  door?: 'login' | 'mobile/login',
): Promise<string> {
  const reply = await passwordLogin(host, surface, who, door)
  assert.equal(reply.json()['status'], 'mfaRequired', reply.text)
  return textOf(reply.json(), 'mfaToken')
}

/** The second half. */
export function finish(
  host: ContractHost,
  surface: Surface,
  mfaToken: string,
  code: string,
  method: 'totp' | 'backupCode' = 'totp',
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/login/mfa`, { body: { mfaToken, method, code } })
}

/** Enrolls on the way in, where the policy wants it; the access token of the session that follows. */
export async function enrolledByTicket(
  host: ContractHost,
  surface: Surface,
  who: Person,
): Promise<string> {
  const first = await passwordLogin(host, surface, who)
  const mfaToken = textOf(first.json(), 'mfaToken')
  const base = `/v1/auth/${surface}/mfa/totp`
  const begun = await host.send('POST', base, { body: { mfaToken } })
  const code = codeOf(host, textOf(begun.json(), 'secret'))
  const done = await host.send('POST', `${base}/confirm`, { body: { mfaToken, code } })
  assert.equal(done.status, 200, done.text)
  return textOf(done.json(), 'accessToken')
}

/** As a host guards a route of its own. */
export async function requireStepUp(
  host: ContractHost,
  surface: Surface,
  bearer: string,
  maxAgeMs = 60_000,
): Promise<void> {
  if (surface === 'operator') {
    const principal = await host.auth.operator.authenticate(`Bearer ${bearer}`)
    return host.auth.operator.requireStepUp(principal, { maxAgeMs })
  }
  const principal = await host.auth.client.authenticate(`Bearer ${bearer}`)
  return host.auth.client.requireStepUp(principal, { maxAgeMs })
}
