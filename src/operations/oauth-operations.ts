import * as z from 'zod/mini'
import { oauthFailures } from '../model/oauth-failures.js'
import { adminOperation, guardedOperation, publicOperation } from './operation.js'
import {
  flowCookies,
  mobileAuthenticatedReply,
  noBody,
  nothing,
  passwordInput,
  recognitionInput,
  termsInput,
  text,
  tokenInput,
  unfinishedLogins,
} from './schemas.js'
import { linkBegun, mobileLogin, redirectToApp, redirectToProvider } from './views.js'

const both = ['operator', 'client'] as const
const operator = ['operator'] as const
const tag = 'Authentication'

/** A page of the host. It is compared with the list of targets and never parsed. */
const redirectUri = z.string().check(z.minLength(1), z.maxLength(2048))
/** An authorization response. Unknown members are ignored (RFC 6749 §4.1.2). */
const answer = z.record(z.string().check(z.maxLength(64)), z.string().check(z.maxLength(8192)))

const startErrors = ['not_found', 'oauth_provider_disabled', 'redirect_not_allowed'] as const
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
  handle: async (_call, { oauth }) => ({ body: { providers: [...(await oauth.offered())] } }),
})

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
  query: z.strictObject({ redirectUri, acceptedTermsVersion: z.optional(termsInput) }),
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  cookies: { reads: [...flowCookies, 'recognition'], sets: flowCookies },
  errors: [...startErrors, 'csrf_rejected'],
  handle: async ({ params, query, flowCookies, recognitionCookie }, { oauth }) => {
    const browser = { keys: flowCookies, recognitionId: recognitionCookie }
    const provider = params['provider'] ?? ''
    return redirectToProvider(await oauth.startWeb(provider, targetOf(query), browser))
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
  query: answer,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  cookies: { reads: ['oauth', 'device'], sets: ['refresh', 'oauth', 'recognition'] },
  errors: callbackErrors,
  redirectErrors: oauthFailures,
  handle: async ({ params, query, flowCookies, deviceCookie, source }, { oauth }) =>
    redirectToApp(
      await oauth.finish(
        params['provider'] ?? '',
        { mode: 'query', parameters: query },
        { keys: flowCookies, deviceToken: deviceCookie },
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
  body: answer,
  bodyForm: true,
  reply: nothing,
  cookies: { reads: ['oauth_form', 'device'], sets: ['refresh', 'oauth_form', 'recognition'] },
  errors: callbackErrors,
  redirectErrors: oauthFailures,
  handle: async ({ params, body, flowCookies, deviceCookie, source }, { oauth }) =>
    redirectToApp(
      await oauth.finish(
        params['provider'] ?? '',
        { mode: 'form_post', parameters: body },
        { keys: flowCookies, deviceToken: deviceCookie },
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
    redirectUri,
    codeChallenge: z.string().check(z.regex(/^[\w-]{43}$/)),
    codeChallengeMethod: z.literal('S256'),
    appState: z.optional(text.check(z.minLength(1), z.maxLength(512))),
    acceptedTermsVersion: z.optional(termsInput),
  }),
  reply: z.strictObject({ authorizationUrl: z.string(), expiresIn: z.int() }),
  errors: startErrors,
  handle: async ({ params, body }, { oauth }) => {
    const { codeChallenge, appState = null } = body
    const app = { ...targetOf(body), codeChallenge, appState }
    return { body: await oauth.startMobile(params['provider'] ?? '', app) }
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
    ...recognitionInput,
  }),
  reply: z.union([mobileAuthenticatedReply, ...unfinishedLogins]),
  errors: ['invalid_token', 'oauth_provider_disabled', 'invalid_credentials', 'email_not_verified'],
  handle: async ({ body, source }, { oauth }) => {
    const { code, codeVerifier, deviceToken = null, recognitionId = null } = body
    const device = { deviceToken, recognition: { cookie: null, body: recognitionId } }
    return mobileLogin(await oauth.exchange({ code, codeVerifier, ...device }, source))
  },
})

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
  body: z.strictObject({ redirectUri, currentPassword: z.optional(passwordInput) }),
  reply: z.strictObject({ authorizationUrl: z.string(), expiresIn: z.int() }),
  cookies: { reads: flowCookies, sets: flowCookies },
  errors: [
    ...startErrors,
    'csrf_rejected',
    'step_up_required',
    'invalid_credentials',
    'email_not_verified',
    'identity_already_linked',
    'server_busy',
  ],
  handle: async (call, { oauth }) => {
    const { redirectUri: uri, currentPassword } = call.body
    const given = { redirectUri: uri, currentPassword, keys: call.flowCookies }
    const provider = call.params['provider'] ?? ''
    return linkBegun(await oauth.startLink(call, provider, given, call.source))
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
  handle: async (call, { oauthLinks }) => {
    const { currentPassword } = call.body
    await oauthLinks.unlink(call, call.params['provider'] ?? '', currentPassword, call.source)
    return { body: null }
  },
})

const unlinkUserOauth = adminOperation({
  id: 'unlinkUserOauth',
  method: 'DELETE',
  path: '/v1/auth/{surface}/users/{userId}/oauth/{provider}',
  surfaces: operator,
  tag,
  summary: 'Unlink another operator’s account of a provider',
  guards: [{ kind: 'bearer' }, { kind: 'permission', key: 'system.users.oauth_unlink' }],
  limit: 'admin',
  status: 204,
  body: noBody,
  bodyOptional: true,
  reply: nothing,
  errors: ['user_not_found', 'not_found', 'last_login_method'],
  locate: ({ userId = '' }, { oauthLinks }) => oauthLinks.person(userId),
  handle: async ({ located, params: { provider = '' }, principal, source }, { oauthLinks }) => {
    await oauthLinks.unlinkOf(principal.userId, located, { provider }, source)
    return { body: null }
  },
})

function targetOf(given: {
  readonly redirectUri?: string | undefined
  readonly acceptedTermsVersion?: string | undefined
}) {
  return { redirectUri: given.redirectUri ?? '', termsVersion: given.acceptedTermsVersion ?? '' }
}

export const oauthOperations = [
  listOauthProviders,
  startOauth,
  oauthCallback,
  oauthCallbackFormPost,
  startMobileOauth,
  exchangeMobileOauth,
  startOauthLink,
  unlinkOauth,
  unlinkUserOauth,
]
