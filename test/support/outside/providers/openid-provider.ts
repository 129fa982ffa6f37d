import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { decodeJwt, type JWTPayload } from 'jose'
import { type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { listen } from '../../hosts/running-host.js'
import { type Account, tenants } from '../provider-stub/account.js'
import { registered } from '../provider-stub/credentials.js'
import { signingKeys } from './signing-keys.js'
import type { StandIn, StandInOptions } from './stand-in.js'
import { type TokenReplies, tokenReplies } from './token-replies.js'

interface Place {
  readonly id: 'google' | 'microsoft'
  /** Where it is mounted; the last path segment may be any. */
  readonly mount: string
  readonly routes: { readonly authorization: string; readonly token: string; readonly jwks: string }
  readonly issuerAt: (url: string) => string
  readonly endpointsAt: (url: string) => StandIn['endpoints']
  readonly claimsOf: (account: Account) => Record<string, unknown>
  /** Of people whose issuer is another one than this instance's. */
  readonly issuerOf?: (claims: JWTPayload, url: string) => string
}

/** `oidc-provider`, with its own pages, as Google's. */
export function googleStandIn(options: StandInOptions): Promise<StandIn> {
  const routes = { authorization: '/o/oauth2/v2/auth', token: '/token', jwks: '/oauth2/v3/certs' }
  return openidProvider(options, {
    id: 'google',
    mount: '/',
    routes,
    issuerAt: (url) => url,
    endpointsAt: (url) => ({
      issuer: url,
      authorization: `${url}${routes.authorization}`,
      token: `${url}${routes.token}`,
      jwks: `${url}${routes.jwks}`,
    }),
    claimsOf: ({ verified = true, email = '' }) => ({
      email_verified: verified,
      ...(verified === true ? { hd: email.split('@')[1] } : {}),
    }),
  })
}

/**
 * `oidc-provider`, with its own pages, as Microsoft's: an issuer for each tenant, and one set of keys.
 * Whichever tenant was asked for, people come from that of their account.
 */
export function microsoftStandIn(options: StandInOptions): Promise<StandIn> {
  const routes = {
    authorization: '/oauth2/v2.0/authorize',
    token: '/oauth2/v2.0/token',
    jwks: '/discovery/v2.0/keys',
  }
  return openidProvider(options, {
    id: 'microsoft',
    mount: '/:tenant',
    routes,
    issuerAt: (url) => `${url}/${tenants.acme}/v2.0`,
    issuerOf: ({ tid }, url) => `${url}/${tid}/v2.0`,
    endpointsAt: (url) => ({
      issuer: `${url}/{tenantid}/v2.0`,
      authorization: `${url}/{tenant}${routes.authorization}`,
      token: `${url}/{tenant}${routes.token}`,
      jwks: `${url}/{tenant}${routes.jwks}`,
    }),
    claimsOf: ({ subject, verified, tenant }) => ({
      tid: tenant ?? tenants.acme,
      oid: `object-${subject}`,
      ...(verified === undefined ? {} : { xms_edov: verified }),
    }),
  })
}

async function openidProvider(
  { redirectUris, accounts }: StandInOptions,
  place: Place,
): Promise<StandIn> {
  const { clientId, clientSecret } = registered[place.id]
  const keys = await signingKeys()
  const replies = tokenReplies({ keys, clientId, clientSecret })
  const tokenRequests: URLSearchParams[] = []
  const codes: string[] = []
  const app = express()
  const running = await listen(createServer(app))
  const { url } = running

  /** As the provider made it, unless it is of another issuer. */
  async function reissue(idToken: string): Promise<string> {
    const claims = decodeJwt(idToken)
    const issuer = place.issuerOf?.(claims, url) ?? claims.iss
    return issuer === claims.iss ? idToken : keys.sign({ ...claims, iss: String(issuer) })
  }

  const provider = new Provider(place.issuerAt(url), {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirectUris],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [keys.privateJwk] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    pkce: { required: () => true },
    routes: place.routes,
    // Both put what they tell of a person into the ID token itself.
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'tid', 'oid'],
      email: ['email', 'email_verified', 'hd', 'xms_edov'],
      profile: ['name'],
    },
    findAccount: (_context, subject) => {
      const account = accounts.find((one) => one.subject === subject)
      if (account === undefined) return undefined
      const { email, name } = account
      const claims = { sub: subject, email, name, ...place.claimsOf(account) }
      return { accountId: subject, claims: () => claims }
    },
  })
  provider.on('authorization.success', (_context, answer) => {
    if (typeof answer?.['code'] === 'string') codes.push(answer['code'])
  })
  // It prints what clients do that hang up, as one does at a reply that is too long.
  provider.silent = true
  tamperWith(provider, { replies, tokenRequests, reissue })
  app.use(place.mount, provider.callback())

  return {
    id: place.id,
    url,
    endpoints: place.endpointsAt(url),
    misbehave: replies.misbehave,
    tokenRequests,
    secrets: () => [...codes, ...replies.given],
    close: running.close,
  }
}

interface Tampering {
  readonly replies: TokenReplies
  readonly tokenRequests: URLSearchParams[]
  readonly reissue: (idToken: string) => Promise<string>
}

/** The provider itself is always honest; what it answers can be changed on its way out. */
function tamperWith(provider: Provider, { replies, tokenRequests, reissue }: Tampering): void {
  provider.use(async (context: KoaContextWithOIDC, next) => {
    await next()
    if (context.oidc?.route !== 'token') return
    const form = Object.entries(context.oidc.body ?? {})
    tokenRequests.push(
      new URLSearchParams(form.map(([name, value]): [string, string] => [name, String(value)])),
    )
    const body: unknown = context.body
    const members = Object.fromEntries(typeof body === 'object' ? Object.entries(body ?? {}) : [])
    const idToken = members['id_token']
    const own = typeof idToken === 'string' ? { id_token: await reissue(idToken) } : {}
    const { status } = context
    const reply = await replies.prepare({ status, body: { ...members, ...own } })
    if (reply === null) {
      context.respond = false
      return
    }
    context.status = reply.status
    context.type = reply.type
    context.body = reply.text
    if (reply.location !== undefined) context.set('location', reply.location)
  })
}
