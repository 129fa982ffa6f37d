import * as z from 'zod/mini'
import { flowNameOf } from '../domain/intents/oauth-flows.js'
import { loginWithCode, mailLoginCode } from '../domain/login/mailed-code.js'
import { publicOperation } from './operation.js'
import { emailInput, loginReplies, recognitionInput, text, tokenInput } from './schemas.js'
import { deliveredLogin, shownRecognition } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Authentication'

const startCodeLogin = publicOperation({
  id: 'loginCode',
  method: 'POST',
  path: '/v1/auth/{surface}/login/code',
  surfaces: both,
  option: 'mailedCode',
  tag,
  summary: 'Mail a code to sign in with, in this browser or app',
  guards: [{ kind: 'public' }],
  limit: 'recovery',
  status: 202,
  body: z.strictObject({ email: emailInput, ...recognitionInput }),
  reply: z.strictObject({
    status: z.literal('accepted'),
    /** Present if the request asked for tokens in the body. */
    codeKey: z.optional(z.string()),
    expiresIn: z.int(),
  }),
  cookies: { reads: ['recognition'], sets: ['oauth'] },
  choosesDelivery: true,
  errors: [],
  handle: async (call, ctx) => {
    const { body, tokenDelivery: delivery, source } = call
    const recognitionId = shownRecognition(call)[delivery]
    const asker = { recognitionId, languages: call.languages() }
    const { codeKey, expiresIn } = await mailLoginCode(ctx, body.email, asker, source)
    const answer = { status: 'accepted' as const, expiresIn }
    if (delivery === 'body') return { body: { ...answer, codeKey } }
    // A browser keeps it as it keeps the key of a flow to a provider: for this host alone, away from scripts.
    const flow = flowNameOf(codeKey)
    return { body: answer, flowCookies: [{ mode: 'query', flow, key: codeKey, expiresIn }] }
  },
})

const finishCodeLogin = publicOperation({
  id: 'loginCodeVerify',
  method: 'POST',
  path: '/v1/auth/{surface}/login/code/verify',
  surfaces: both,
  option: 'mailedCode',
  tag,
  summary: 'Sign in with the mailed code, in the browser or app that asked for it',
  guards: [{ kind: 'public' }],
  limit: 'login',
  status: 200,
  body: z.strictObject({
    code: text.check(z.minLength(1), z.maxLength(64)),
    codeKey: z.optional(tokenInput),
    deviceToken: z.optional(tokenInput),
    ...recognitionInput,
  }),
  reply: z.union(loginReplies),
  cookies: { reads: ['oauth', 'device', 'recognition'], sets: ['refresh', 'recognition'] },
  choosesDelivery: true,
  errors: ['invalid_credentials'],
  handle: async (call, ctx) => {
    const { body, deviceCookie, flowCookies, tokenDelivery: delivery, source } = call
    const { code, codeKey, deviceToken = null } = body
    // As of refresh tokens: what a page puts into a body never goes with the browser's cookies.
    const shown =
      delivery === 'body'
        ? { deviceToken, keys: codeKey === undefined ? [] : [codeKey] }
        : { deviceToken: deviceCookie, keys: flowCookies.map(({ key }) => key) }
    const login = { ...shown, code, delivery, recognition: shownRecognition(call) }
    return deliveredLogin({ result: await loginWithCode(ctx, login, source), delivery })
  },
})

export const mailedCodeOperations = [startCodeLogin, finishCodeLogin]
