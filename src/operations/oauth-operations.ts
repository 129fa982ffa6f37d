import * as z from 'zod/mini'
import {
  exchangeOauthCode,
  finishSignIn,
  offeredProviders,
  type ReturningBrowser,
  startMobileSignIn,
  startWebSignIn,
} from '../domain/oauth/oauth-sign-in.js'
import { oauthFailures } from '../model/intents.js'
import { type Call, publicOperation } from './operation.js'
import {
  flowCookies,
  mobileAuthenticatedReply,
  noBody,
  nothing,
  oauthStartErrors,
  recognitionInput,
  redirectInput,
  termsInput,
  text,
  tokenInput,
  unfinishedLogins,
} from './schemas.js'
import { mobileLogin, redirectToApp, redirectToProvider } from './views.js'

const both = ['operator', 'client'] as const
const tag = 'Authentication'

/** An authorization response. Unknown members are ignored (RFC 6749 §4.1.2). */
const answer = z.record(z.string().check(z.maxLength(64)), z.string().check(z.maxLength(8192)))

const callbackErrors = ['not_found', 'invalid_oauth_state', 'redirect_not_allowed'] as const

const listOauthProviders = publicOperation({
  id: 'listOauthProviders',
  method: 'GET',
  path: '/v1/auth/{surface}/oauth/providers',
  surfaces: both,
  tag,
  summary: 'The identity providers this surface lets people sign in with',
  guards: [{ kind: 'public' }],
  limit: 'oauth',
  status: 200,
  body: noBody,
  bodyOptional: true,
  reply: z.strictObject({
    providers: z.array(z.strictObject({ id: z.string(), name: z.string() })),
  }),
  errors: [],
  handle: async (_call, ctx) => ({ body: { providers: [...(await offeredProviders(ctx))] } }),
})

const startQuery = {
  ...redirectInput,
  acceptedTermsVersion: z.optional(termsInput),
  login_hint: z.optional(text.check(z.maxLength(320))),
  hd: z.optional(text.check(z.maxLength(253))),
  prompt: z.optional(text.check(z.maxLength(64))),
}

const startOauth = publicOperation({
  id: 'startOauth',
  method: 'GET',
  path: '/v1/auth/{surface}/oauth/{provider}/start',
  surfaces: both,
  tag,
  summary: 'Go to the provider to sign in, and then on to redirectUri',
  guards: [{ kind: 'public' }, { kind: 'origin', navigation: true }],
  limit: 'oauth',
  status: 302,
  forPages: true,
  query: z.strictObject(startQuery),
  queryMembers: Object.keys(startQuery),
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  cookies: { reads: [...flowCookies, 'registration', 'recognition'], sets: flowCookies },
  errors: [...oauthStartErrors, 'csrf_rejected'],
  handle: async (call, ctx) => {
    const { params, query, flowCookies: keys } = call
    const { recognitionCookie: recognitionId, registrationCookie: registrationKey } = call
    // A foreign page must not sign its visitors in behind their backs, where the provider would not ask.
    const { login_hint: loginHint, hd: hostedDomain, prompt } = query
    const hints = { loginHint, hostedDomain, prompt }
    const kept = { keys, recognitionId, registrationKey }
    const browser = { ...kept, hints, asksForAccount: !call.isAskedByPerson() }
    const provider = params['provider'] ?? ''
    return redirectToProvider(await startWebSignIn(ctx, provider, targetOf(query), browser))
  },
})

const oauthCallback = publicOperation({
  id: 'oauthCallback',
  method: 'GET',
  path: '/v1/auth/{surface}/oauth/{provider}/callback',
  surfaces: both,
  tag,
  summary: 'Where a provider sends the browser back to; answers with the way to redirectUri',
  guards: [{ kind: 'public' }],
  limit: 'oauth',
  status: 302,
  forPages: true,
  query: answer,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  cookies: {
    reads: ['oauth', 'device', 'refresh'],
    sets: ['refresh', 'oauth', 'registration', 'recognition'],
  },
  errors: callbackErrors,
  redirectErrors: oauthFailures,
  handle: async ({ params, query, source, ...browser }, ctx) =>
    redirectToApp(
      await finishSignIn(
        ctx,
        params['provider'] ?? '',
        { mode: 'query', parameters: query },
        returningBrowser(browser),
        source,
      ),
    ),
})

const oauthCallbackFormPost = publicOperation({
  id: 'oauthCallbackFormPost',
  method: 'POST',
  path: '/v1/auth/{surface}/oauth/{provider}/callback',
  surfaces: both,
  tag,
  summary: 'The same, for the provider that answers by a form (Apple)',
  guards: [{ kind: 'public' }],
  limit: 'oauth',
  status: 302,
  forPages: true,
  body: answer,
  bodyForm: true,
  reply: nothing,
  cookies: {
    reads: ['oauth_form', 'device', 'refresh'],
    sets: ['refresh', 'oauth_form', 'registration', 'recognition'],
  },
  errors: callbackErrors,
  redirectErrors: oauthFailures,
  handle: async ({ params, body, source, ...browser }, ctx) =>
    redirectToApp(
      await finishSignIn(
        ctx,
        params['provider'] ?? '',
        { mode: 'form_post', parameters: body },
        returningBrowser(browser),
        source,
      ),
    ),
})

const startMobileOauth = publicOperation({
  id: 'startMobileOauth',
  method: 'POST',
  path: '/v1/auth/{surface}/mobile/oauth/{provider}/start',
  surfaces: both,
  tag: 'Mobile',
  summary: 'The address an app opens in the system browser to sign in with a provider',
  guards: [{ kind: 'public' }],
  limit: 'oauth',
  status: 200,
  body: z.strictObject({
    ...redirectInput,
    codeChallenge: z.string().check(z.regex(/^[\w-]{43}$/)),
    codeChallengeMethod: z.literal('S256'),
    appState: z.optional(text.check(z.minLength(1), z.maxLength(512))),
    acceptedTermsVersion: z.optional(termsInput),
  }),
  reply: z.strictObject({ authorizationUrl: z.string(), expiresIn: z.int() }),
  errors: oauthStartErrors,
  handle: async ({ params, body }, ctx) => {
    const { codeChallenge, appState = null } = body
    const app = { ...targetOf(body), codeChallenge, appState }
    return { body: await startMobileSignIn(ctx, params['provider'] ?? '', app) }
  },
})

const exchangeMobileOauth = publicOperation({
  id: 'exchangeMobileOauth',
  method: 'POST',
  path: '/v1/auth/{surface}/mobile/oauth/exchange',
  surfaces: both,
  tag: 'Mobile',
  summary: 'Exchange the code from the redirect, once, with the verifier of its challenge',
  guards: [{ kind: 'public' }],
  limit: 'oauth',
  status: 200,
  body: z.strictObject({
    code: tokenInput,
    codeVerifier: tokenInput,
    deviceToken: z.optional(tokenInput),
    registrationKey: z.optional(tokenInput),
    ...recognitionInput,
  }),
  reply: z.union([
    z.strictObject({
      status: z.literal('verificationRequired'),
      registrationKey: z.string(),
      expiresIn: z.int(),
    }),
    mobileAuthenticatedReply,
    ...unfinishedLogins,
  ]),
  errors: ['invalid_token', 'oauth_provider_disabled', 'invalid_credentials', 'email_not_verified'],
  handle: async ({ body, source }, ctx) => {
    const { deviceToken = null, recognitionId = null, registrationKey = null, ...shown } = body
    const recognition = { cookie: null, body: recognitionId }
    const app = { ...shown, deviceToken, registrationKey, recognition }
    const result = await exchangeOauthCode(ctx, app, source)
    return result.status === 'verificationRequired' ? { body: result } : mobileLogin(result)
  },
})

function returningBrowser({
  flowCookies: keys,
  deviceCookie: deviceToken,
  refreshCookies: sessions,
  languages,
}: Pick<
  Call<unknown>,
  'flowCookies' | 'deviceCookie' | 'refreshCookies' | 'languages'
>): ReturningBrowser {
  return { keys, deviceToken, sessions, languages: languages() }
}

function targetOf(given: {
  readonly redirectUri?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}) {
  return { redirectUri: given.redirectUri ?? '', termsVersion: given.acceptedTermsVersion ?? null }
}

export const oauthOperations = [
  listOauthProviders,
  startOauth,
  oauthCallback,
  oauthCallbackFormPost,
  startMobileOauth,
  exchangeMobileOauth,
]
