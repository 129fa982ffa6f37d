import * as z from 'zod/mini'
import * as passkeyLogin from '../domain/passkeys/passkey-ceremonies.js'
import * as passkeyRegistration from '../domain/passkeys/passkey-ceremonies.js'
import * as ownPasskeys from '../domain/passkeys/passkeys.js'
import * as passkeyStepUp from '../domain/passkeys/passkeys.js'
import { removeOwnPasskey } from '../domain/passkeys/passkeys.js'
import { enrollingOperation, guardedOperation, publicOperation } from './operation.js'
import {
  assertionInput,
  challengeIdInput,
  credentialIdInput,
  flowCookies,
  loginReplies,
  mfaTokenInput,
  nameInput,
  noBody,
  nothing,
  otherSessionsInput,
  passwordInput,
  recognitionInput,
  text,
  timestamp,
  trustInput,
} from './schemas.js'
import {
  deliveredLogin,
  passkeyView,
  registeredPasskeyView,
  shownRecognition,
  trustRequest,
  waitingLogin,
} from './views.js'

const both = ['operator', 'client'] as const
const tag = 'WebAuthn'
const permission = { kind: 'permission', key: 'auth.mfa.self' } as const
const self = [{ kind: 'bearer' }, permission] as const
const selfWithProof = [{ kind: 'bearer' }, permission, { kind: 'stepUp' }] as const
/** Or the ticket of a login that lacks a factor. */
const enrolling = [{ kind: 'bearerOrTicket' }, permission] as const

const transportsInput = z.array(text.check(z.maxLength(32))).check(z.maxLength(16))

/** What `PublicKeyCredential.toJSON` gives after a registration; what else it has is left alone. */
const registrationInput = z.object({
  id: credentialIdInput,
  rawId: credentialIdInput,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: text.check(z.minLength(1)),
    attestationObject: text.check(z.minLength(1)),
    transports: z.optional(z.nullable(transportsInput)),
  }),
})

const descriptors = z.array(
  z.object({
    id: z.string(),
    type: z.string(),
    transports: z.optional(z.array(z.string())),
  }),
)

const creationOptions = z.object({
  rp: z.object({ id: z.optional(z.string()), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
  timeout: z.optional(z.int()),
  excludeCredentials: z.optional(descriptors),
  authenticatorSelection: z.optional(
    z.object({
      residentKey: z.optional(z.string()),
      requireResidentKey: z.optional(z.boolean()),
      userVerification: z.optional(z.string()),
    }),
  ),
  attestation: z.optional(z.string()),
  hints: z.optional(z.array(z.string())),
  extensions: z.optional(z.object({ credProps: z.optional(z.boolean()) })),
})

export const passkeyAssertion = z.strictObject({
  challengeId: z.string(),
  options: z.object({
    rpId: z.optional(z.string()),
    challenge: z.string(),
    timeout: z.optional(z.int()),
    allowCredentials: z.optional(descriptors),
    userVerification: z.optional(z.string()),
  }),
})

export const passkey = z.strictObject({
  credentialId: z.string(),
  name: z.string(),
  createdAt: timestamp,
})

const startPasskeyRegistration = enrollingOperation({
  id: 'startPasskeyRegistration',
  method: 'POST',
  path: '/v1/auth/{surface}/webauthn/registration/options',
  surfaces: both,
  tag,
  summary: 'Begin to register a passkey: options for navigator.credentials.create',
  guards: enrolling,
  limit: 'mfa',
  status: 200,
  body: z.strictObject({
    mfaToken: z.optional(mfaTokenInput),
    currentPassword: z.optional(passwordInput),
  }),
  bodyOptional: true,
  reply: z.strictObject({ challengeId: z.string(), options: creationOptions }),
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
    body: await passkeyRegistration.startPasskeyRegistration(
      ctx,
      enrollee,
      body.currentPassword,
      source,
    ),
  }),
})

const finishPasskeyRegistration = enrollingOperation({
  id: 'finishPasskeyRegistration',
  method: 'POST',
  path: '/v1/auth/{surface}/webauthn/registration/verify',
  surfaces: both,
  tag,
  summary: 'Register the passkey; with a ticket, the login as well',
  guards: enrolling,
  limit: 'mfa',
  status: 201,
  body: z.strictObject({
    mfaToken: z.optional(mfaTokenInput),
    challengeId: challengeIdInput,
    response: registrationInput,
    name: z._default(nameInput.check(z.minLength(1), z.maxLength(100)), 'Passkey'),
    ...otherSessionsInput,
    ...recognitionInput,
  }),
  reply: z.union([passkey, ...loginReplies.map((reply) => z.extend(reply, passkey.shape))]),
  cookies: { reads: [...flowCookies, 'recognition'], sets: ['refresh', 'recognition'] },
  errors: [
    'mfa_method_disabled',
    'webauthn_failed',
    'email_not_verified',
    'factor_already_enrolled',
    'mfa_ticket_invalid',
  ],
  handle: async (call, ctx) => {
    const { enrollee, body, source } = call
    const made = { ...body, recognition: shownRecognition(call) }
    return registeredPasskeyView(
      await passkeyRegistration.finishPasskeyRegistration(ctx, enrollee, made, source),
    )
  },
})

const listPasskeys = guardedOperation({
  id: 'listPasskeys',
  method: 'GET',
  path: '/v1/auth/{surface}/webauthn/credentials',
  surfaces: both,
  tag,
  summary: 'Your passkeys, oldest first',
  guards: self,
  limit: 'self',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    items: z.array(z.extend(passkey, { lastUsedAt: z.nullable(timestamp) })),
  }),
  errors: [],
  handle: async (call, ctx) => ({
    body: { items: (await ownPasskeys.listPasskeys(ctx, call)).map(passkeyView) },
  }),
})

const deletePasskey = guardedOperation({
  id: 'deletePasskey',
  method: 'DELETE',
  path: '/v1/auth/{surface}/webauthn/credentials/{credentialId}',
  surfaces: both,
  tag,
  summary: 'Remove a passkey; earlier proofs are void',
  guards: selfWithProof,
  limit: 'mfa',
  status: 204,
  body: z.strictObject(otherSessionsInput),
  bodyOptional: true,
  reply: nothing,
  errors: ['step_up_required', 'factor_not_found', 'last_factor_required', 'last_login_method'],
  handle: async (call, ctx) => {
    const { params, source, body } = call
    await removeOwnPasskey(ctx, call, params['credentialId'] ?? '', source, body.endOtherSessions)
    return { body: null }
  },
})

const startPasskeyLogin = publicOperation({
  id: 'startPasskeyLogin',
  method: 'POST',
  path: '/v1/auth/{surface}/webauthn/login/options',
  surfaces: both,
  tag,
  summary: 'Begin to sign in with a passkey, as second factor or without a password',
  guards: [{ kind: 'public' }],
  limit: 'mfa',
  status: 200,
  body: z.strictObject({ mfaToken: z.optional(mfaTokenInput) }),
  bodyOptional: true,
  reply: passkeyAssertion,
  cookies: { reads: flowCookies },
  errors: ['mfa_method_disabled', 'mfa_ticket_invalid', 'factor_not_found'],
  handle: async (call, ctx) => ({
    body: await passkeyLogin.startPasskeyLogin(ctx, waitingLogin(call.body, call)),
  }),
})

const finishPasskeyLogin = publicOperation({
  id: 'finishPasskeyLogin',
  method: 'POST',
  path: '/v1/auth/{surface}/webauthn/login/verify',
  surfaces: both,
  tag,
  summary: 'Finish a login with a passkey; its tokens go where the login began, cookie or body',
  guards: [{ kind: 'public' }],
  limit: 'mfa',
  status: 200,
  body: z.strictObject({
    mfaToken: z.optional(mfaTokenInput),
    challengeId: challengeIdInput,
    response: assertionInput,
    ...trustInput,
    ...recognitionInput,
  }),
  reply: z.union([...loginReplies]),
  cookies: {
    reads: [...flowCookies, 'recognition'],
    sets: ['refresh', 'device', 'recognition'],
  },
  choosesDelivery: true,
  errors: [
    'mfa_method_disabled',
    'invalid_credentials',
    'email_not_verified',
    'mfa_ticket_invalid',
  ],
  handle: async (call, ctx) => {
    const { body, tokenDelivery: delivery, source } = call
    const shown = { recognition: shownRecognition(call) }
    const terms = { trust: trustRequest(body), ...shown, delivery }
    const how = { waiting: waitingLogin(body, call), ...terms }
    return deliveredLogin(await passkeyLogin.finishPasskeyLogin(ctx, body, how, source))
  },
})

const startPasskeyStepUp = guardedOperation({
  id: 'startPasskeyStepUp',
  method: 'POST',
  path: '/v1/auth/{surface}/webauthn/step-up/options',
  surfaces: both,
  tag,
  summary: 'Begin to prove a passkey again; finished at /step-up',
  guards: self,
  limit: 'mfa',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: passkeyAssertion,
  errors: ['mfa_method_disabled', 'factor_not_found'],
  handle: async (call, ctx) => ({ body: await passkeyStepUp.startPasskeyStepUp(ctx, call) }),
})

export const webauthnOperations = [
  startPasskeyRegistration,
  finishPasskeyRegistration,
  listPasskeys,
  deletePasskey,
  startPasskeyLogin,
  finishPasskeyLogin,
  startPasskeyStepUp,
]
