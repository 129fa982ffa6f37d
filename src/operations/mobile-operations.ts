import * as z from 'zod/mini'
import { loginWithPassword } from '../domain/login/password-login.js'
import { rotateRefresh } from '../domain/sessions/refresh.js'
import { publicOperation } from './operation.js'
import {
  accessGrant,
  emailInput,
  mobileAuthenticatedReply,
  passwordInput,
  recognitionInput,
  refreshHeaders,
  refreshTokenReply,
  tokenInput,
  unfinishedLogins,
} from './schemas.js'
import { bodyRefresh, mobileLogin as mobileLoginAnswer } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Mobile'

const mobileLogin = publicOperation({
  id: 'mobileLogin',
  method: 'POST',
  path: '/v1/auth/{surface}/mobile/login',
  surfaces: both,
  tag,
  summary: 'Sign in with e-mail and password; the refresh token comes in the body',
  guards: [{ kind: 'public' }],
  limit: 'login',
  status: 200,
  body: z.strictObject({
    email: emailInput,
    password: passwordInput,
    deviceToken: z.optional(tokenInput),
    registrationKey: z.optional(tokenInput),
    /** What a reset of the password gave the app. */
    signInKey: z.optional(tokenInput),
    ...recognitionInput,
  }),
  reply: z.union([mobileAuthenticatedReply, ...unfinishedLogins]),
  errors: ['invalid_credentials', 'email_not_verified', 'password_login_disabled', 'server_busy'],
  handle: async ({ body, source }, ctx) => {
    const device = {
      delivery: 'body',
      deviceToken: body.deviceToken ?? null,
      registrationKey: body.registrationKey ?? null,
      signInKey: body.signInKey ?? null,
      recognition: { cookie: null, body: body.recognitionId ?? null },
    } as const
    return mobileLoginAnswer(
      await loginWithPassword(ctx, body.email, body.password, device, source),
    )
  },
})

const refresh = publicOperation({
  id: 'refresh',
  method: 'POST',
  path: '/v1/auth/{surface}/refresh',
  unprefixedPath: '/v1/auth/refresh',
  surfaces: both,
  tag,
  summary: 'Rotate a refresh token sent in the body; never touches cookies',
  guards: [{ kind: 'public' }],
  limit: 'refresh',
  status: 200,
  body: z.strictObject({ refreshToken: tokenInput, ...recognitionInput }),
  reply: z.extend(accessGrant, refreshTokenReply),
  replyHeaders: refreshHeaders,
  errors: [
    'audience_mismatch',
    'refresh_token_invalid',
    'refresh_token_expired',
    'refresh_token_reused',
    'session_revoked',
    'session_max_age_reached',
    'session_enforcement_unavailable',
  ],
  handle: async ({ body, source }, ctx) => {
    const shown = { token: body.refreshToken, recognitionId: body.recognitionId ?? null }
    return bodyRefresh(await rotateRefresh(ctx, { ...shown, delivery: 'body' }, source))
  },
})

export const mobileOperations = [mobileLogin, refresh]
