import assert from 'node:assert/strict'
import type { Authorizer } from '../../../src/ports/host.js'
import type { ContractHost } from '../hosts/hosts.js'
import { type Reply, type SendOptions, textOf } from '../hosts/http-client.js'
import { type Enrolled, enrolled } from './authenticator.js'

export const accountsPath = '/v1/admin/service-accounts'
export const tokenPath = '/v1/auth/token'

/** Lets people do everything, and machines nothing. */
export const peopleMay: Authorizer = { check: async ({ kind }) => kind === '' }

export interface IssuedCredential {
  readonly credentialId: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface MadeAccount extends IssuedCredential {
  /** The account's own id. */
  readonly id: string
}

/** An operator whose session has just shown a second factor. */
export async function administrator(host: ContractHost): Promise<Enrolled> {
  const who = await enrolled(host, 'operator')
  await prove(host, who)
  return who
}

/** Shows a second factor again; spends a backup code, so that no time passes. */
export async function prove(host: ContractHost, who: Enrolled): Promise<void> {
  const spent = provedWith.get(who) ?? 0
  provedWith.set(who, spent + 1)
  const body = { method: 'backupCode', code: who.backupCodes[spent] }
  const reply = await host.send('POST', '/v1/auth/operator/step-up', { bearer: who.bearer, body })
  assert.equal(reply.status, 200, reply.text)
}

const provedWith = new WeakMap<Enrolled, number>()

export function issuedIn(reply: Reply): IssuedCredential {
  assert.equal(reply.status, 201, reply.text)
  const body = reply.json()
  return {
    credentialId: textOf(body, 'credentialId'),
    clientId: textOf(body, 'clientId'),
    clientSecret: textOf(body, 'clientSecret'),
  }
}

/** A service account made over HTTP. */
export async function serviceAccount(
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  name = 'Nightly export',
): Promise<MadeAccount> {
  const reply = await host.send('POST', accountsPath, { bearer, body: { name } })
  return { ...issuedIn(reply), id: textOf(reply.json(), 'id') }
}

/** Another credential of an account. */
export function rotate(
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  id: string,
): Promise<Reply> {
  return host.send('POST', `${accountsPath}/${id}/credentials`, { bearer })
}

export function revoke(
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  id: string,
  credentialId: string,
): Promise<Reply> {
  return host.send('DELETE', `${accountsPath}/${id}/credentials/${credentialId}`, { bearer })
}

/** Asks for a token; `given` replaces members of the body, or takes them away with undefined. */
export function grant(
  host: ContractHost,
  { clientId, clientSecret }: Pick<IssuedCredential, 'clientId' | 'clientSecret'>,
  { given = {}, ...options }: SendOptions & { readonly given?: object } = {},
): Promise<Reply> {
  const body = { grantType: 'client_credentials', clientId, clientSecret, ...given }
  return host.send('POST', tokenPath, { body, ...options })
}

/** The token of a grant that has to succeed. */
export async function tokenOf(
  host: ContractHost,
  credential: Pick<IssuedCredential, 'clientId' | 'clientSecret'>,
): Promise<string> {
  const reply = await grant(host, credential)
  assert.equal(reply.status, 200, reply.text)
  return textOf(reply.json(), 'accessToken')
}
