import * as z from 'zod/mini'
import { pageOptions } from '../domain/accounts/profile.js'
import { loginWithPassword } from '../domain/login/password-login.js'
import * as passwordRecovery from '../domain/passwords/password-writer.js'
import * as logoutRoom from '../domain/sessions/logout.js'
import { rotateRefresh, viewSession } from '../domain/sessions/refresh.js'
import { publicOperation } from './operation.js'
import {
  accepted,
  accessGrant,
  authenticatedReply,
  emailInput,
  noBody,
  nothing,
  passwordInput,
  publicUser,
  recognitionInput,
  refreshHeaders,
  signInKeyReply,
  timestamp,
  tokenInput,
  unfinishedLogins,
} from './schemas.js'
import { cookieRefresh, sessionView, webLogin } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Authentication'

const refreshErrors = [
  'unauthorized',
  'audience_mismatch',
  'refresh_token_invalid',
  'refresh_token_expired',
  'refresh_token_reused',
  'session_revoked',
  'session_max_age_reached',
  'csrf_rejected',
  'session_enforcement_unavailable',
] as const

const login = publicOperation({
  id: 'login',
  method: 'POST',
  path: '/v1/auth/{surface}/login',
  surfaces: both,
  tag,
  summary: 'Sign in with e-mail and password; the refresh token comes as a cookie',
  guards: [{ kind: 'public' }],
  limit: 'login',
  status: 200,
  body: z.strictObject({ email: emailInput, password: passwordInput }),
  reply: z.union([authenticatedReply, ...unfinishedLogins]),
  cookies: {
    reads: ['device', 'registration', 'recognition', 'sign_in'],
    sets: ['refresh', 'recognition'],
  },
  errors: ['invalid_credentials', 'email_not_verified', 'password_login_disabled', 'server_busy'],
  handle: async (call, ctx) => {
    const { body, deviceCookie, registrationCookie, recognitionCookie: cookie, source } = call
    const device = {
      delivery: 'cookie',
      deviceToken: deviceCookie,
      registrationKey: registrationCookie,
      signInKey: call.signInCookie,
      recognition: { cookie, body: null },
    } as const
    return webLogin(await loginWithPassword(ctx, body.email, body.password, device, source))
  },
})

const logout = publicOperation({
  id: 'logout',
  method: 'POST',
  path: '/v1/auth/{surface}/logout',
  surfaces: both,
  tag,
  summary: 'End this session, or all of them; takes a bearer token, the cookie, or a body token',
  guards: [{ kind: 'public' }, { kind: 'origin' }],
  limit: 'logout',
  status: 204,
  body: z.strictObject({
    refreshToken: z.optional(tokenInput),
    everywhere: z.optional(z.boolean()),
    ...recognitionInput,
  }),
  bodyOptional: true,
  reply: nothing,
  usesRefreshCookie: 'each',
  cookies: { reads: ['refresh', 'recognition'], sets: ['refresh'] },
  bearer: 'credential',
  errors: [
    'unauthorized',
    'audience_mismatch',
    'session_revoked',
    'csrf_rejected',
    'session_enforcement_unavailable',
  ],
  handle: async (call, ctx) => {
    const { body, bearer, refreshCookies, address, source } = call
    const { refreshToken, everywhere = false } = body
    const recognitionId = body.recognitionId ?? call.recognitionCookie
    const shown = { bearer, refreshCookies, refreshToken, recognitionId }
    await logoutRoom.logout(ctx, { ...shown, everywhere, address }, source)
    return { body: null, refreshCookie: 'clear' }
  },
})

const refreshCookie = publicOperation({
  id: 'refreshCookie',
  method: 'POST',
  path: '/v1/auth/{surface}/refresh-cookie',
  unprefixedPath: '/v1/auth/refresh-cookie',
  surfaces: both,
  tag,
  summary: 'Rotate the refresh cookie and mint an access token',
  guards: [{ kind: 'public' }, { kind: 'origin' }],
  limit: 'refresh',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: accessGrant,
  replyHeaders: refreshHeaders,
  usesRefreshCookie: 'one',
  cookies: { reads: ['refresh', 'recognition'], sets: ['refresh'] },
  errors: refreshErrors,
  handle: async ({ refreshCookie, recognitionCookie, source }, ctx) => {
    const shown = { token: refreshCookie, recognitionId: recognitionCookie }
    return cookieRefresh(await rotateRefresh(ctx, { ...shown, delivery: 'cookie' }, source))
  },
})

const getSession = publicOperation({
  id: 'getSession',
  method: 'GET',
  path: '/v1/auth/{surface}/session',
  unprefixedPath: '/v1/auth/session',
  surfaces: both,
  tag,
  summary: 'Mint an access token from the refresh cookie without rotating it',
  guards: [{ kind: 'public' }, { kind: 'origin' }],
  limit: 'refresh',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.extend(accessGrant, {
    session: z.strictObject({
      id: z.string(),
      loginAt: timestamp,
      idleExpiresAt: timestamp,
      absoluteExpiresAt: z.nullable(timestamp),
    }),
    user: publicUser,
  }),
  usesRefreshCookie: 'one',
  cookies: { reads: ['refresh', 'recognition'] },
  errors: refreshErrors,
  handle: async ({ refreshCookie: token, recognitionCookie: recognitionId, source }, ctx) => ({
    body: sessionView(await viewSession(ctx, { token, recognitionId }, source)),
  }),
})

const forgotPassword = publicOperation({
  id: 'forgotPassword',
  method: 'POST',
  path: '/v1/auth/{surface}/password/forgot',
  surfaces: both,
  tag,
  summary: 'Mail a password reset link',
  guards: [{ kind: 'public' }],
  limit: 'recovery',
  status: 202,
  body: z.strictObject({ email: emailInput }),
  reply: accepted,
  errors: ['password_login_disabled'],
  handle: async (call, ctx) => {
    await passwordRecovery.forgotPassword(ctx, call.body.email, call.languages(), call.source)
    return { body: { status: 'accepted' as const } }
  },
})

const resetPassword = publicOperation({
  id: 'resetPassword',
  method: 'POST',
  path: '/v1/auth/{surface}/password/reset',
  surfaces: both,
  tag,
  summary: 'Set a new password with the mailed token; ends every session',
  guards: [{ kind: 'public' }],
  limit: 'confirm',
  status: 204,
  body: z.strictObject({ token: tokenInput, newPassword: passwordInput }),
  reply: z.nullable(signInKeyReply),
  cookies: { sets: ['sign_in'] },
  choosesDelivery: true,
  errors: [
    'invalid_token',
    'token_expired',
    'password_login_disabled',
    'password_policy',
    'server_busy',
  ],
  handle: async ({ body, source, tokenDelivery }, ctx) => {
    const key = await passwordRecovery.resetPassword(ctx, body.token, body.newPassword, source)
    if (key === null) return { body: null }
    return tokenDelivery === 'body' ? { status: 200, body: key } : { body: null, signInCookie: key }
  },
})

const jwk = z.strictObject({
  kty: z.literal('RSA'),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal('RS256'),
  n: z.string(),
  e: z.string(),
})

const getJwks = publicOperation({
  id: 'getJwks',
  method: 'GET',
  path: '/v1/auth/{surface}/jwks',
  surfaces: both,
  everyHost: true,
  tag,
  summary: 'The public keys that verify this deployment’s tokens',
  guards: [{ kind: 'public' }],
  limit: 'jwks',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({ keys: z.readonly(z.array(jwk)) }),
  replyHeaders: { 'Cache-Control': z.literal('public, max-age=300') },
  errors: [],
  handle: async (_call, ctx) => ({
    body: (await ctx.keys.ring()).jwks(),
    headers: { 'cache-control': 'public, max-age=300' },
  }),
})

const getOptions = publicOperation({
  id: 'getOptions',
  method: 'GET',
  path: '/v1/auth/{surface}/options',
  surfaces: both,
  tag,
  summary: 'What sign-in and registration pages have to know, the same for every caller',
  guards: [{ kind: 'public' }],
  limit: 'options',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    registrationOpen: z.boolean(),
    passwordLogin: z.boolean(),
    passkeys: z.enum(['off', 'secondFactor', 'passwordless']),
    totp: z.boolean(),
    providers: z.readonly(z.array(z.string())),
    passwordMinLength: z.int(),
    passwordMaxLength: z.int(),
    termsVersion: z.nullable(z.string()),
    emailVerificationRequired: z.boolean(),
  }),
  revalidates: true,
  replyHeaders: { 'Cache-Control': z.literal('public, max-age=60') },
  errors: [],
  async handle(_call, ctx) {
    const { options, version } = await pageOptions(ctx)
    return {
      body: options,
      // A token of the other surface gets another answer.
      headers: {
        'cache-control': 'public, max-age=60',
        etag: `"${version}"`,
        vary: 'Authorization',
      },
    }
  },
})

export const authenticationOperations = [
  login,
  logout,
  refreshCookie,
  getSession,
  forgotPassword,
  resetPassword,
  getJwks,
  getOptions,
]
