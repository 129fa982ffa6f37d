import * as z from 'zod/mini'
import type { Act } from '../domain/context/actor.js'
import * as serviceAccounts from '../domain/service-accounts/service-accounts.js'
import {
  locateServiceAccount,
  revokeCredential,
  type ServiceAccount,
} from '../domain/service-accounts/service-accounts.js'
import {
  exchangeAtTokenEndpoint,
  grantServiceToken,
  type IssuedCredential,
  issueCredential,
} from '../domain/service-accounts/service-credentials.js'
import { AuthError } from '../errors/index.js'
import { type AdminCall, adminOperation, publicOperation } from './operation.js'
import { accessGrant, nameInput, noBody, nothing, timestamp } from './schemas.js'
import { isoTime } from './views.js'

const operator = ['operator'] as const
const tag = 'Service Accounts'
const shared = { surfaces: operator, tag, limit: 'admin' } as const
const withoutBody = { body: noBody, bodyOptional: true } as const

const reading = [
  { kind: 'principal' },
  { kind: 'permission', key: 'auth.service_accounts.read' },
] as const
/** The step-up has a maximum age of its own: `stepUpMaxAge` neither lengthens nor shortens it. */
const managing = [
  { kind: 'principal' },
  { kind: 'permission', key: 'auth.service_accounts.manage' },
  { kind: 'stepUp', maxAgeMs: 5 * 60 * 1000 },
] as const

const name = nameInput.check(z.minLength(1), z.maxLength(100))

const issued = { credentialId: z.string(), clientId: z.string(), clientSecret: z.string() }

export const serviceCredential = z.strictObject({
  credentialId: z.string(),
  accountId: z.string(),
  clientId: z.string(),
  status: z.enum(['active', 'revoked']),
  createdAt: timestamp,
  createdBy: z.nullable(z.string()),
  lastUsedAt: z.nullable(timestamp),
  revokedAt: z.nullable(timestamp),
  revokedBy: z.nullable(z.string()),
})

export const serviceAccount = z.strictObject({
  id: z.string(),
  kind: z.literal('service'),
  name: z.string(),
  email: z.string(),
  systemRole: z.string(),
  enabled: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
  credentials: z.array(serviceCredential),
})

type Acting = Pick<AdminCall<unknown, unknown>, 'user' | 'source' | 'askAgain'>

const actOf = ({ user, source, askAgain }: Acting): Act => ({
  actorId: user.id,
  source,
  askAgain: () => askAgain(),
})

/**
 * Anything goes for the two texts but their absence: a 400 for a prefix or a length would tell one
 * refusal from the others.
 */
const issueServiceToken = publicOperation({
  id: 'issueServiceToken',
  method: 'POST',
  path: '/v1/auth/token',
  surfaces: operator,
  everyHost: true,
  tag,
  summary: 'Exchange client credentials for an access token',
  guards: [{ kind: 'public' }],
  limit: 'grant',
  bearer: 'ignored',
  status: 200,
  body: z.strictObject({
    grantType: z.optional(z.string()),
    clientId: z.string(),
    clientSecret: z.string(),
  }),
  reply: accessGrant,
  errors: ['unsupported_grant_type', 'invalid_client', 'server_busy'],
  async handle({ body: { grantType, ...given }, address, source }, ctx) {
    if (grantType !== 'client_credentials') throw new AuthError('unsupported_grant_type')
    return { body: await grantServiceToken(ctx, given, address, source) }
  },
})

const optionalText = z.optional(z.string())

const exchangeClientCredentials = publicOperation({
  id: 'exchangeClientCredentials',
  method: 'POST',
  path: '/v1/auth/oauth2/token',
  surfaces: operator,
  everyHost: true,
  tag,
  summary: 'The same for OAuth libraries: the client credentials grant of RFC 6749',
  guards: [{ kind: 'public' }],
  limit: 'grant',
  bearer: 'ignored',
  oauth2: true,
  status: 200,
  bodyForm: true,
  // What else clients send is ignored (RFC 6749 §3.2).
  body: z.object({
    grant_type: optionalText,
    scope: optionalText,
    client_id: optionalText,
    client_secret: optionalText,
    client_assertion: optionalText,
  }),
  reply: z.strictObject({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
  }),
  replyHeaders: { Pragma: z.literal('no-cache') },
  errors: ['unsupported_grant_type', 'invalid_scope', 'invalid_client', 'server_busy'],
  async handle({ body: form, authorization, address, source }, ctx) {
    const grant = await exchangeAtTokenEndpoint(ctx, { authorization, form }, address, source)
    const { accessToken: access_token, tokenType: token_type, expiresIn: expires_in } = grant
    return { body: { access_token, token_type, expires_in }, headers: { pragma: 'no-cache' } }
  },
})

const listServiceAccounts = adminOperation({
  id: 'listServiceAccounts',
  method: 'GET',
  path: '/v1/admin/service-accounts',
  summary: 'The service accounts, by id',
  guards: reading,
  ...shared,
  ...withoutBody,
  query: z.strictObject({
    limit: z.optional(z.string().check(z.regex(/^(?:[1-9]\d?|100)$/))),
    cursor: z.optional(z.string()),
  }),
  status: 200,
  reply: z.strictObject({ items: z.array(serviceAccount), nextCursor: z.nullable(z.string()) }),
  errors: [],
  locate: async () => {},
  async handle({ query: { limit = '50', cursor = null } }, ctx) {
    const { accounts, next } = await serviceAccounts.listServiceAccounts(ctx, Number(limit), cursor)
    return { body: { items: accounts.map(serviceAccountView), nextCursor: next } }
  },
})

const createServiceAccount = adminOperation({
  id: 'createServiceAccount',
  method: 'POST',
  path: '/v1/admin/service-accounts',
  summary: 'Create a service account with its first credential; the secret is shown this once',
  guards: managing,
  ...shared,
  status: 201,
  body: z.strictObject({ name }),
  reply: z.extend(serviceAccount, issued),
  errors: ['server_busy'],
  locate: async () => {},
  async handle(call, ctx) {
    const made = await serviceAccounts.createServiceAccount(ctx, call.body.name, actOf(call))
    const { status: _, createdAt: __, ...secret } = issuedCredentialView(made.issued)
    return { body: { ...serviceAccountView(made.account), ...secret } }
  },
})

const getServiceAccount = adminOperation({
  id: 'getServiceAccount',
  method: 'GET',
  path: '/v1/admin/service-accounts/{id}',
  summary: 'A service account and its credentials, without secrets',
  guards: reading,
  ...shared,
  ...withoutBody,
  status: 200,
  reply: serviceAccount,
  errors: ['service_account_not_found'],
  locate: async () => {},
  handle: async ({ params: { id = '' } }, ctx) => ({
    body: serviceAccountView(await serviceAccounts.getServiceAccount(ctx, id)),
  }),
})

const updateServiceAccount = adminOperation({
  id: 'updateServiceAccount',
  method: 'PATCH',
  path: '/v1/admin/service-accounts/{id}',
  summary: 'Rename, enable or disable a service account',
  guards: managing,
  ...shared,
  status: 200,
  body: z
    .strictObject({ name: z.optional(name), enabled: z.optional(z.boolean()) })
    .check(
      z.refine((given) => Object.keys(given).length > 0, { message: 'must change something' }),
    ),
  reply: serviceAccount,
  errors: ['service_account_not_found'],
  locate: ({ id = '' }, ctx) => locateServiceAccount(ctx, id),
  async handle(call, ctx) {
    const { enabled, name: newName } = call.body
    const changes = {
      ...(enabled === undefined ? {} : { enabled }),
      ...(newName === undefined ? {} : { name: newName }),
    }
    const changed = await serviceAccounts.updateServiceAccount(
      ctx,
      call.located,
      changes,
      actOf(call),
    )
    return { body: serviceAccountView(changed) }
  },
})

const issueServiceCredential = adminOperation({
  id: 'issueServiceCredential',
  method: 'POST',
  path: '/v1/admin/service-accounts/{id}/credentials',
  summary: 'Issue another credential, to rotate; the secret is shown this once',
  guards: managing,
  ...shared,
  ...withoutBody,
  status: 201,
  reply: z.strictObject({ ...issued, status: z.enum(['active', 'revoked']), createdAt: timestamp }),
  errors: ['service_account_not_found', 'credential_limit_reached', 'server_busy'],
  locate: ({ id = '' }, ctx) => locateServiceAccount(ctx, id),
  async handle(call, ctx) {
    const issued = await issueCredential(ctx, call.located.id, actOf(call))
    return { body: issuedCredentialView(issued) }
  },
})

const revokeServiceCredential = adminOperation({
  id: 'revokeServiceCredential',
  method: 'DELETE',
  path: '/v1/admin/service-accounts/{id}/credentials/{credentialId}',
  summary: 'Revoke a credential; tokens it got before live on until they expire',
  guards: managing,
  ...shared,
  ...withoutBody,
  status: 204,
  reply: nothing,
  errors: ['credential_not_found'],
  locate: async () => {},
  async handle(call, ctx) {
    const { id = '', credentialId = '' } = call.params
    await revokeCredential(ctx, id, credentialId, actOf(call))
    return { body: null }
  },
})

export const serviceAccountOperations = [
  issueServiceToken,
  exchangeClientCredentials,
  listServiceAccounts,
  createServiceAccount,
  getServiceAccount,
  updateServiceAccount,
  issueServiceCredential,
  revokeServiceCredential,
] as const

type Credential = ServiceAccount['credentials'][number]

function serviceAccountView({ user, credentials }: ServiceAccount) {
  return {
    id: user.id,
    kind: 'service' as const,
    name: user.name,
    email: user.email,
    systemRole: user.systemRole,
    enabled: user.enabled,
    createdAt: isoTime(user.createdAt),
    updatedAt: isoTime(user.updatedAt),
    credentials: credentials.map(credentialView),
  }
}

/** Everything but the hash. */
function credentialView(credential: Credential) {
  const { id, accountId, clientId, status, createdBy, revokedBy } = credential
  return {
    credentialId: id,
    accountId,
    clientId,
    status,
    createdAt: isoTime(credential.createdAt),
    createdBy,
    lastUsedAt: timeOrNull(credential.lastUsedAt),
    revokedAt: timeOrNull(credential.revokedAt),
    revokedBy,
  }
}

function issuedCredentialView({ credential, clientSecret }: IssuedCredential) {
  const { id: credentialId, clientId, status, createdAt } = credential
  return { credentialId, clientId, clientSecret, status, createdAt: isoTime(createdAt) }
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}
