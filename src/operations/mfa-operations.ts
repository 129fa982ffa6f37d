import * as z from 'zod/mini'
import { resetMfa } from '../domain/accounts/users.js'
import * as ownFactors from '../domain/factors/own-factors.js'
import { mfaStatus, removeOwnTotp, stepUpByCode } from '../domain/factors/own-factors.js'
import {
  beginTotpAtLogin,
  completeMfaLogin,
  confirmTotpAtLogin,
} from '../domain/login/password-login.js'
import { finishPasskeyStepUp } from '../domain/passkeys/passkeys.js'
import { AuthError } from '../errors/index.js'
import { enrollingOperation, guardedOperation, publicOperation } from './operation.js'
import {
  assertionInput,
  challengeIdInput,
  flowCookies,
  loginReplies,
  mfaTokenInput,
  noBody,
  nothing,
  otherSessionsInput,
  passwordInput,
  recognitionInput,
  timestamp,
  trustInput,
} from './schemas.js'
import {
  deliveredLogin,
  mfaStatusView,
  shownRecognition,
  stepUpView,
  totpConfirmationView,
  trustRequest,
} from './views.js'

const both = ['operator', 'client'] as const
const tag = 'MFA'
const permission = { kind: 'permission', key: 'auth.mfa.self' } as const
const self = [{ kind: 'bearer' }, permission] as const
const selfWithProof = [{ kind: 'bearer' }, permission, { kind: 'stepUp' }] as const
/** Or the ticket of a login that lacks a factor. */
const enrolling = [{ kind: 'bearerOrTicket' }, permission] as const

/** Only its length is checked here: the form of codes is not revealed before a code is verified. */
const codeInput = z.string().check(z.minLength(1), z.maxLength(64))
const method = z.enum(['totp', 'backupCode'])
const backupCodes = z.readonly(z.array(z.string()))

const getMfaStatus = guardedOperation({
  id: 'getMfaStatus',
  method: 'GET',
  path: '/v1/auth/{surface}/mfa',
  surfaces: both,
  tag,
  summary: 'Your second factors and your newest proof',
  guards: self,
  limit: 'self',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    policy: z.enum(['off', 'optional', 'required']),
    totp: z.strictObject({ enrolled: z.boolean() }),
    backupCodes: z.strictObject({ remaining: z.int() }),
    passkeys: z.int(),
    stepUp: z.strictObject({ provedAt: z.nullable(timestamp) }),
  }),
  errors: [],
  handle: async (call, ctx) => ({ body: mfaStatusView(await mfaStatus(ctx, call)) }),
})

const enrollTotp = enrollingOperation({
  id: 'enrollTotp',
  method: 'POST',
  path: '/v1/auth/{surface}/mfa/totp',
  surfaces: both,
  tag,
  summary:
    'Begin with an authenticator app: a secret to scan, which counts once a code confirms it',
  guards: enrolling,
  limit: 'mfa',
  status: 201,
  body: z.strictObject({
    mfaToken: z.optional(mfaTokenInput),
    currentPassword: z.optional(passwordInput),
  }),
  bodyOptional: true,
  reply: z.strictObject({ secret: z.string(), otpauthUri: z.string() }),
  cookies: { reads: flowCookies },
  errors: [
    'mfa_method_disabled',
    'email_not_verified',
    'factor_already_enrolled',
    'invalid_credentials',
    'step_up_required',
    'mfa_ticket_invalid',
    'server_busy',
  ],
  handle: async ({ enrollee, body, source }, ctx) => ({
    body: await beginTotpAtLogin(ctx, enrollee, body.currentPassword, source),
  }),
})

const confirmTotp = enrollingOperation({
  id: 'confirmTotp',
  method: 'POST',
  path: '/v1/auth/{surface}/mfa/totp/confirm',
  surfaces: both,
  tag,
  summary: 'Confirm the authenticator app with a code of it; answers backup codes, this once',
  guards: enrolling,
  limit: 'mfa',
  status: 200,
  body: z.strictObject({
    mfaToken: z.optional(mfaTokenInput),
    code: codeInput,
    ...otherSessionsInput,
    ...recognitionInput,
  }),
  reply: z.union([
    z.strictObject({ backupCodes }),
    ...loginReplies.map((reply) => z.extend(reply, { backupCodes })),
  ]),
  cookies: { reads: [...flowCookies, 'recognition'], sets: ['refresh', 'recognition'] },
  errors: [
    'mfa_method_disabled',
    'invalid_mfa_code',
    'mfa_ticket_invalid',
    'email_not_verified',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { enrollee, body, source } = call
    const shown = { ...body, recognition: shownRecognition(call) }
    return totpConfirmationView(await confirmTotpAtLogin(ctx, enrollee, shown, source))
  },
})

const removeTotp = guardedOperation({
  id: 'removeTotp',
  method: 'DELETE',
  path: '/v1/auth/{surface}/mfa/totp',
  surfaces: both,
  tag,
  summary: 'Remove the authenticator app; earlier proofs are void',
  guards: selfWithProof,
  limit: 'mfa',
  status: 204,
  body: z.strictObject(otherSessionsInput),
  bodyOptional: true,
  reply: nothing,
  errors: ['step_up_required', 'factor_not_found', 'last_factor_required'],
  handle: async (call, ctx) => {
    await removeOwnTotp(ctx, call, call.source, call.body.endOtherSessions)
    return { body: null }
  },
})

const regenerateBackupCodes = guardedOperation({
  id: 'regenerateBackupCodes',
  method: 'POST',
  path: '/v1/auth/{surface}/mfa/backup-codes',
  surfaces: both,
  tag,
  summary: 'New backup codes, shown this once; the old ones are void',
  guards: selfWithProof,
  limit: 'mfa',
  status: 201,
  body: z.strictObject(otherSessionsInput),
  bodyOptional: true,
  reply: z.strictObject({ backupCodes }),
  errors: ['step_up_required', 'email_not_verified', 'factor_not_found', 'server_busy'],
  handle: async (call, ctx) => {
    const { source, body } = call
    const codes = await ownFactors.regenerateBackupCodes(ctx, call, source, body.endOtherSessions)
    return { body: { backupCodes: codes } }
  },
})

const completeLoginMfa = publicOperation({
  id: 'completeLoginMfa',
  method: 'POST',
  path: '/v1/auth/{surface}/login/mfa',
  surfaces: both,
  tag,
  summary: 'Finish a login with a code; its tokens go where the login began, cookie or body',
  guards: [{ kind: 'public' }],
  limit: 'mfa',
  status: 200,
  body: z.strictObject({
    mfaToken: mfaTokenInput,
    method,
    code: codeInput,
    ...trustInput,
    ...recognitionInput,
  }),
  reply: z.union([...loginReplies]),
  cookies: {
    reads: [...flowCookies, 'recognition'],
    sets: ['refresh', 'device', 'recognition'],
  },
  errors: [
    'invalid_mfa_code',
    'mfa_ticket_invalid',
    'mfa_method_disabled',
    'email_not_verified',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { body, flowCookies: browserKeys, source } = call
    const waiting = { mfaToken: body.mfaToken, browserKeys }
    const terms = {
      trust: trustRequest(body),
      recognition: shownRecognition(call),
    }
    return deliveredLogin(await completeMfaLogin(ctx, waiting, body, terms, source))
  },
})

const verifyStepUp = guardedOperation({
  id: 'verifyStepUp',
  method: 'POST',
  path: '/v1/auth/{surface}/step-up',
  surfaces: both,
  tag,
  summary: 'Prove a second factor again, for acts that ask for a recent proof',
  guards: self,
  limit: 'mfa',
  status: 200,
  // By `method`, so that a refusal names the member that is wrong.
  body: z.discriminatedUnion('method', [
    z.strictObject({ method, code: codeInput }),
    z.strictObject({
      method: z.literal('webauthn'),
      challengeId: challengeIdInput,
      response: assertionInput,
    }),
  ]),
  reply: z.strictObject({ provedAt: timestamp, method: z.enum([...method.options, 'webauthn']) }),
  errors: ['invalid_mfa_code', 'factor_not_found', 'server_busy'],
  handle: async (call, ctx) => {
    const { body, source } = call
    const provedAt =
      body.method === 'webauthn'
        ? await finishPasskeyStepUp(ctx, call, body, source)
        : await stepUpByCode(ctx, call, body, source)
    return { body: stepUpView(body.method, provedAt) }
  },
})

const resetUserMfa = guardedOperation({
  id: 'resetUserMfa',
  method: 'POST',
  path: '/v1/auth/operator/users/{userId}/mfa-reset',
  surfaces: ['operator'],
  tag,
  summary:
    'Take all second factors from a user who lost them; ends their sessions and forgets trusted devices',
  guards: [
    { kind: 'bearer' },
    { kind: 'permission', key: 'system.users.mfa_reset' },
    { kind: 'stepUp' },
  ],
  limit: 'admin',
  status: 204,
  body: z.strictObject({ surface: z.optional(z.enum(both)) }),
  bodyOptional: true,
  reply: nothing,
  errors: ['step_up_required', 'user_not_found'],
  handle: async ({ body, params, user, source }, ctx) => {
    const surface = body.surface ?? 'operator'
    const done = await resetMfa(ctx.on(surface), params['userId'] ?? '', {
      actorId: user.id,
      source,
    })
    if (!done) {
      const detail = `There is no such person on the ${surface} surface. Give "surface" in the body for the other one.`
      throw new AuthError('user_not_found', { detail })
    }
    return { body: null }
  },
})

export const mfaOperations = [
  getMfaStatus,
  enrollTotp,
  confirmTotp,
  removeTotp,
  regenerateBackupCodes,
  completeLoginMfa,
  verifyStepUp,
  resetUserMfa,
]
