import * as z from 'zod/mini'
import { resendVerificationTo } from '../domain/accounts/registration.js'
import { sendResetLink } from '../domain/passwords/password-writer.js'
import { guardedOperation } from './operation.js'
import { accepted } from './schemas.js'

/** The members that both operations share. */
const shared = {
  method: 'POST',
  surfaces: ['operator'],
  tag: 'Authentication',
  limit: 'admin',
  status: 202,
  body: z.strictObject({ surface: z.optional(z.enum(['operator', 'client'])) }),
  bodyOptional: true,
  reply: accepted,
} as const

const sendUserPasswordReset = guardedOperation({
  id: 'sendUserPasswordReset',
  path: '/v1/auth/{surface}/users/{userId}/password-reset',
  summary: 'Mail a user a password reset link',
  guards: [{ kind: 'bearer' }, { kind: 'permission', key: 'system.users.password_reset' }],
  ...shared,
  errors: ['user_not_found', 'password_login_disabled'],
  handle: async ({ body, params, user, source }, ctx) => {
    const on = ctx.on(body.surface ?? 'operator')
    await sendResetLink(on, params['userId'] ?? '', { actorId: user.id, source })
    return { body: { status: 'accepted' as const } }
  },
})

const resendUserEmailVerification = guardedOperation({
  id: 'resendUserEmailVerification',
  path: '/v1/auth/{surface}/users/{userId}/email-verification',
  summary: 'Mail a user a new link to confirm their address',
  guards: [{ kind: 'bearer' }, { kind: 'permission', key: 'system.users.email_verify_resend' }],
  ...shared,
  errors: ['user_not_found', 'email_already_verified'],
  handle: async ({ body, params, user, source }, ctx) => {
    const on = ctx.on(body.surface ?? 'operator')
    await resendVerificationTo(on, params['userId'] ?? '', { actorId: user.id, source })
    return { body: { status: 'accepted' as const } }
  },
})

export const userMailOperations = [sendUserPasswordReset, resendUserEmailVerification]
