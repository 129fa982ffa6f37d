import { serviceCredentialsSpec } from '../../src/model/user.js'
import type { Surface } from '../../src/ports/surface.js'
import { storedIn, storedUser } from '../support/hosts/open-host.js'
import type { TestAuth } from '../support/hosts/test-auth.js'
import { goodPassword, otherPassword } from '../support/people/people.js'

/** A request that has to be refused, whatever is right about it. */
export interface Refusal {
  readonly path: string
  readonly body: Readonly<Record<string, string>>
  readonly bearer?: string
  /** With a form's type, the body is one. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Where a service account may ask for a token, and how it authenticates. */
export type GrantDoor = 'json' | 'basic' | 'post'

const oauth2Path = '/v1/auth/oauth2/token'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const grantAt: Readonly<Record<GrantDoor, (clientId: string, clientSecret: string) => Refusal>> = {
  json: (clientId, clientSecret) => ({
    path: '/v1/auth/token',
    body: { grantType: 'client_credentials', clientId, clientSecret },
  }),
  basic: (clientId, clientSecret) => ({
    path: oauth2Path,
    body: { grant_type: 'client_credentials' },
    headers: { ...form, authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
  }),
  post: (clientId, clientSecret) => ({
    path: oauth2Path,
    body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    headers: form,
  }),
}

/** By what is wrong. The first one is what the others are compared with. */
export type Refusals = Readonly<Record<string, Refusal>>

/** Six logins, each with the password that is, or would be, right where that is not what is wrong. */
export async function loginRefusals(host: TestAuth, surface: Surface): Promise<Refusals> {
  const { users } = host.auth[surface]
  const stored = storedIn(host, surface).users
  const emailOf = (name: string) => `${name}@example.org`
  const make = (name: string, given: object = {}) =>
    users.create({
      email: emailOf(name),
      password: goodPassword,
      emailVerified: true,
      ...given,
    })
  await make('wrong')
  await make('unverified', { emailVerified: false })
  const { id: disabled } = await make('disabled')
  await users.update(disabled, { enabled: false })
  await users.create({ email: emailOf('linked'), emailVerified: true })
  const owner = await storedUser(host, surface, emailOf('wrong'))
  const id = '01940000-0000-7000-8000-000000000001'
  await stored.insert({ ...owner, id, email: emailOf('machine'), kind: 'service' })
  const login = (name: string, password: string): Refusal => ({
    path: `/v1/auth/${surface}/login`,
    body: { email: emailOf(name), password },
  })
  return {
    'a wrong password': login('wrong', otherPassword),
    'an unknown address': login('nobody', goodPassword),
    'a disabled account': login('disabled', goodPassword),
    'a machine account': login('machine', goodPassword),
    'an account without a password': login('linked', goodPassword),
    'an unverified address and a wrong password': login('unverified', otherPassword),
  }
}

/** Five grants, likewise. `secretHash` is the hash of `secret`. */
export async function grantRefusals(
  host: TestAuth,
  secretHash: string,
  door: GrantDoor = 'json',
): Promise<Refusals> {
  const { users } = storedIn(host, 'operator')
  const credentials = host.backend.store.collection(serviceCredentialsSpec)
  await host.auth.operator.users.create({ email: 'owner@example.org' })
  const owner = await storedUser(host, 'operator', 'owner@example.org')
  let made = 0
  async function make({ kind = 'service', enabled = true, status = 'active' } = {}) {
    made += 1
    const accountId = `01940000-0000-7000-8000-00000000010${made}`
    const clientId = `sa_${String(made).padStart(22, 'c')}`
    const email = `${accountId}@service-accounts.invalid`
    await users.insert({ ...owner, id: accountId, email, kind, enabled })
    await credentials.insert({
      id: `01940000-0000-7000-8000-00000000020${made}`,
      accountId,
      clientId,
      secretHash,
      status: status === 'active' ? 'active' : 'revoked',
      createdAt: host.clock.now(),
      createdBy: null,
      lastUsedAt: null,
      revokedAt: null,
      revokedBy: null,
      expiresAt: null,
    })
    return clientId
  }
  const grant = grantAt[door]
  return {
    'a wrong secret': grant(await make(), `sas_${'w'.repeat(43)}`),
    'an unknown client id': grant(`sa_${'u'.repeat(22)}`, grantSecret),
    'a revoked credential': grant(await make({ status: 'revoked' }), grantSecret),
    'a disabled account': grant(await make({ enabled: false }), grantSecret),
    'an account of a person': grant(await make({ kind: '' }), grantSecret),
  }
}

/** What `grantRefusals` wants hashed. */
export const grantSecret = `sas_${'s'.repeat(43)}`
