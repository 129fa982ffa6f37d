import * as z from 'zod/mini'
import { requirePerson, unlinkIdentity, unlinkIdentityOf } from '../domain/oauth/oauth-links.js'
import { startLink } from '../domain/oauth/oauth-sign-in.js'
import { AuthError } from '../errors/index.js'
import { adminOperation, guardedOperation } from './operation.js'
import {
  flowCookies,
  noBody,
  nothing,
  oauthStartErrors,
  passwordInput,
  redirectInput,
} from './schemas.js'
import { linkBegun } from './views.js'

const operator = ['operator'] as const

const startOauthLink = guardedOperation({
  id: 'startOauthLink',
  method: 'POST',
  path: '/v1/auth/{surface}/oauth/{provider}/link',
  surfaces: operator,
  tag: 'Self-Service',
  summary: 'Begin to link an account of a provider, to sign in with it from then on',
  guards: [{ kind: 'bearer' }, { kind: 'origin' }, { kind: 'permission', key: 'auth.self' }],
  limit: 'change',
  status: 200,
  body: z.strictObject({ ...redirectInput, currentPassword: z.optional(passwordInput) }),
  reply: z.strictObject({ authorizationUrl: z.string(), expiresIn: z.int() }),
  cookies: { reads: flowCookies, sets: flowCookies },
  errors: [
    ...oauthStartErrors,
    'csrf_rejected',
    'step_up_required',
    'invalid_credentials',
    'email_not_verified',
    'identity_already_linked',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { redirectUri: uri, currentPassword } = call.body
    const given = { redirectUri: uri, currentPassword, keys: call.flowCookies }
    const provider = call.params['provider'] ?? ''
    return linkBegun(await startLink(ctx, call, provider, given, call.source))
  },
})

const unlinkOauth = guardedOperation({
  id: 'unlinkOauth',
  method: 'DELETE',
  path: '/v1/auth/{surface}/oauth/{provider}/link',
  surfaces: operator,
  tag: 'Self-Service',
  summary: 'Unlink your account of a provider, unless you could not sign in any more',
  guards: [{ kind: 'bearer' }, { kind: 'origin' }, { kind: 'permission', key: 'auth.self' }],
  limit: 'change',
  status: 204,
  body: z.strictObject({ currentPassword: z.optional(passwordInput) }),
  bodyOptional: true,
  reply: nothing,
  errors: [
    'csrf_rejected',
    'step_up_required',
    'invalid_credentials',
    'not_found',
    'last_login_method',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { currentPassword } = call.body
    await unlinkIdentity(ctx, call, call.params['provider'] ?? '', currentPassword, call.source)
    return { body: null }
  },
})

const unlinkUserOauth = adminOperation({
  id: 'unlinkUserOauth',
  method: 'DELETE',
  path: '/v1/auth/{surface}/users/{userId}/oauth/{provider}',
  surfaces: operator,
  tag: 'Authentication',
  summary: 'Unlink another operator’s account of a provider',
  guards: [{ kind: 'bearer' }, { kind: 'permission', key: 'system.users.oauth_unlink' }],
  limit: 'admin',
  status: 204,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  errors: ['user_not_found', 'not_found', 'last_login_method'],
  locate: ({ userId = '' }, ctx) => requirePerson(ctx, userId),
  handle: async ({ located, params: { provider = '' }, principal, source }, ctx) => {
    // To unlink your own account takes a factor or the password, and this route asks for neither.
    if (located.id === principal.userId) {
      const detail = 'DELETE /v1/auth/operator/oauth/{provider}/link unlinks your own account.'
      throw new AuthError('permission_denied', { detail })
    }
    await unlinkIdentityOf(ctx, principal.userId, located, { provider }, source)
    return { body: null }
  },
})

export const oauthLinkOperations = [startOauthLink, unlinkOauth, unlinkUserOauth]
