import * as z from 'zod/mini'
import * as registration from '../domain/accounts/registration.js'
import { resendVerification } from '../domain/accounts/registration.js'
import { type Call, publicOperation } from './operation.js'
import {
  accepted,
  confirmationInput,
  emailInput,
  loginReplies,
  nameInput,
  passwordInput,
  recognitionInput,
  termsInput,
  tokenInput,
} from './schemas.js'
import { registrationAnswer, shownRecognition } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Authentication'

/** An app sends it in the body, a browser as a cookie. */
function registrationKeyOf({
  body,
  registrationCookie,
}: Pick<Call<{ readonly registrationKey?: string | undefined }>, 'body' | 'registrationCookie'>) {
  return body.registrationKey ?? registrationCookie
}

const register = publicOperation({
  id: 'register',
  method: 'POST',
  path: '/v1/auth/{surface}/register',
  surfaces: both,
  tag,
  summary: 'Create an account',
  guards: [{ kind: 'public' }],
  limit: 'register',
  status: 201,
  body: z.strictObject({
    email: emailInput,
    password: passwordInput,
    name: z.optional(nameInput),
    acceptedTermsVersion: z.optional(termsInput),
    registrationKey: z.optional(tokenInput),
    ...recognitionInput,
  }),
  reply: z.union([
    z.strictObject({
      status: z.literal('verificationRequired'),
      /** Present if the request asked for tokens in the body. */
      registrationKey: z.optional(z.string()),
      expiresIn: z.optional(z.int()),
    }),
    ...loginReplies,
  ]),
  cookies: {
    reads: ['registration', 'recognition'],
    sets: ['refresh', 'registration', 'recognition'],
  },
  choosesDelivery: true,
  errors: [
    'registration_disabled',
    'password_login_disabled',
    'email_domain_not_allowed',
    'email_taken',
    'email_not_allowed',
    'password_policy',
    'terms_not_accepted',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { body, registrationCookie, tokenDelivery: delivery, source } = call
    // From where the new key goes: no page has the cookie's keys put into a body, or its own into the cookie.
    const shown = { cookie: registrationCookie, body: body.registrationKey ?? null }
    const kept = { registrationKey: shown[delivery], recognition: shownRecognition(call) }
    const registrant = { delivery, ...kept, languages: call.languages() }
    return registrationAnswer(await registration.register(ctx, body, registrant, source), delivery)
  },
})

const verifyEmail = publicOperation({
  id: 'verifyEmail',
  method: 'POST',
  path: '/v1/auth/{surface}/email/verify',
  surfaces: both,
  tag,
  summary: 'Confirm an e-mail address with the mailed token',
  guards: [{ kind: 'public' }],
  limit: 'confirm',
  status: 200,
  body: confirmationInput,
  reply: z.strictObject({ status: z.literal('verified') }),
  cookies: { reads: ['registration'] },
  errors: [
    'invalid_token',
    'token_expired',
    'password_choice_required',
    'current_password_required',
    'invalid_credentials',
    'registration_disabled',
    'password_login_disabled',
    'email_domain_not_allowed',
    'email_not_allowed',
    'terms_not_accepted',
    'password_policy',
    'server_busy',
  ],
  handle: async (call, ctx) => {
    const { body, bearer, source } = call
    const asker = { sessionId: bearer?.sid ?? null, registrationKey: registrationKeyOf(call) }
    await registration.verifyEmail(ctx, { ...body, ...asker }, source)
    return { body: { status: 'verified' as const } }
  },
})

const resendEmailVerification = publicOperation({
  id: 'resendEmailVerification',
  method: 'POST',
  path: '/v1/auth/{surface}/email/verify/resend',
  surfaces: both,
  tag,
  summary: 'Mail a new confirmation link',
  guards: [{ kind: 'public' }],
  limit: 'recovery',
  status: 202,
  body: z.strictObject({ email: emailInput }),
  reply: accepted,
  errors: [],
  handle: async (call, ctx) => {
    await resendVerification(ctx, call.body.email, call.languages(), call.source)
    return { body: { status: 'accepted' as const } }
  },
})

export const registrationOperations = [register, verifyEmail, resendEmailVerification]
