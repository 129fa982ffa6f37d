import { z } from 'zod'
import { publicOperation } from './operation.js'
import {
  accepted,
  authenticatedReply,
  confirmationInput,
  emailInput,
  nameInput,
  passwordInput,
  termsInput,
  unfinishedLogins,
} from './schemas.js'
import { registrationAnswer } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Authentication'

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
    name: nameInput.optional(),
    acceptedTermsVersion: termsInput.optional(),
  }),
  reply: z.union([
    z.strictObject({ status: z.literal('verificationRequired') }),
    authenticatedReply,
    ...unfinishedLogins,
  ]),
  cookies: { sets: ['refresh'] },
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
  handle: async ({ body, source }, { registration }) =>
    registrationAnswer(await registration.register(body, source)),
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
  errors: [
    'invalid_token',
    'token_expired',
    'password_choice_required',
    'current_password_required',
    'invalid_credentials',
    'password_policy',
    'server_busy',
  ],
  handle: async ({ body, source, bearer }, { registration }) => {
    await registration.verifyEmail({ ...body, sessionId: bearer?.sid ?? null }, source)
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
  handle: async ({ body, source }, { registration }) => {
    await registration.resendVerification(body.email, source)
    return { body: { status: 'accepted' as const } }
  },
})

export const registrationOperations = [register, verifyEmail, resendEmailVerification]
