import { createServer } from 'node:http'
import express, { type Response } from 'express'
import { type CryptoKey, jwtVerify } from 'jose'
import { listen } from '../../hosts/running-host.js'
import { registered } from '../provider-stub/credentials.js'
import { authorizationCodes, type Grant } from './authorization-codes.js'
import { addSignInPages } from './sign-in-pages.js'
import { signingKeys } from './signing-keys.js'
import type { StandIn, StandInOptions } from './stand-in.js'
import { sendToken, tokenReplies } from './token-replies.js'

/** Six months, as Apple counts them. */
const longestSeconds = 15_777_000

/**
 * Apple's sign-in: answers by a form, tells a name the first time alone, knows its clients by JWTs
 * they sign themselves, and writes truth as a text.
 */
export async function appleStandIn({
  redirectUris,
  accounts,
  publicKey,
}: StandInOptions & { readonly publicKey: CryptoKey }): Promise<StandIn> {
  const { clientId, teamId, keyId } = registered.apple
  const keys = await signingKeys()
  const codes = authorizationCodes()
  const replies = tokenReplies({ keys, clientId, clientSecret: clientId })
  const tokenRequests: URLSearchParams[] = []
  const met = new Set<string>()
  const app = express()
  const running = await listen(createServer(app))
  const { url } = running

  addSignInPages(app, {
    authorizePath: '/auth/authorize',
    clientId,
    redirectUris,
    accounts,
    wrongWith: (query) =>
      query.get('response_mode') === 'form_post'
        ? ''
        : 'response_mode must be form_post when name or email scope is requested',
    cancelled: (response, { redirectUri, state }) =>
      postBack(response, redirectUri, { state, error: 'user_cancelled_authorize' }),
    agreed(response, grant) {
      const { account, redirectUri, state } = grant
      const isFirst = !met.has(account.subject)
      met.add(account.subject)
      const [firstName = '', lastName = ''] = (account.name ?? '').split(' ')
      const user = { name: { firstName, lastName }, email: account.email }
      const more = isFirst ? { user: JSON.stringify(user) } : {}
      postBack(response, redirectUri, { state, code: codes.issue(grant), ...more })
    },
  })

  async function isClient(secret: string): Promise<boolean> {
    try {
      const { payload, protectedHeader } = await jwtVerify(secret, publicKey, {
        algorithms: ['ES256'],
        issuer: teamId,
        subject: clientId,
        audience: url,
        requiredClaims: ['iat', 'exp'],
      })
      const { iat = 0, exp = 0 } = payload
      return protectedHeader.kid === keyId && exp - iat <= longestSeconds
    } catch {
      return false
    }
  }

  async function idToken({ account, nonce }: Grant): Promise<string> {
    const { subject, email, verified = true } = account
    const now = Math.floor(Date.now() / 1000)
    return keys.sign({
      iss: url,
      aud: clientId,
      sub: subject,
      iat: now,
      exp: now + 24 * 60 * 60,
      auth_time: now,
      nonce_supported: true,
      ...(nonce === '' ? {} : { nonce }),
      ...(email === undefined ? {} : { email, email_verified: String(verified) }),
    })
  }

  async function reply(form: URLSearchParams) {
    const isKnown = form.get('client_id') === clientId
    if (!isKnown || !(await isClient(form.get('client_secret') ?? ''))) {
      return { status: 400, body: { error: 'invalid_client' } }
    }
    const redeemed = codes.redeem(form)
    if (redeemed === null) return { status: 400, body: { error: 'invalid_grant' } }
    const { grant, accessToken } = redeemed
    return {
      status: 200,
      body: {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: `refresh-${accessToken}`,
        id_token: await idToken(grant),
      },
    }
  }

  app.post('/auth/token', async (request, response) => {
    const form = new URLSearchParams(request.body)
    tokenRequests.push(form)
    sendToken(response, await replies.prepare(await reply(form)))
  })
  app.get('/auth/keys', (_request, response) => response.json({ keys: [keys.publicJwk] }))

  return {
    id: 'apple',
    url,
    endpoints: {
      issuer: url,
      authorization: `${url}/auth/authorize`,
      token: `${url}/auth/token`,
      jwks: `${url}/auth/keys`,
    },
    misbehave: replies.misbehave,
    tokenRequests,
    secrets: () => [...codes.issued, ...replies.given],
    close: running.close,
  }
}

/** A page that sends itself on as soon as it is there (OAuth 2.0 Form Post Response Mode). */
function postBack(response: Response, action: string, members: Record<string, string>): void {
  const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const fields = Object.entries(members).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`,
  )
  response.send(
    `<!doctype html><title>Apple</title><body onload="document.forms[0].submit()">` +
      `<form method="post" action="${attribute(action)}">${fields.join('')}</form></body>`,
  )
}
