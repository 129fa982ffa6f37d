import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { OauthIdentity } from '../../../src/model/user.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { InitialSettings } from '../../../src/settings/settings.js'
import {
  type ContractHost,
  type HostKind,
  type HostOptions,
  memoryHost,
} from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Account, tenants } from '../../support/outside/provider-stub/account.js'
import {
  allEnabled,
  appleKeys,
  registeredSettings,
} from '../../support/outside/provider-stub/credentials.js'
import {
  type ProviderStub,
  providerStub,
} from '../../support/outside/provider-stub/provider-stub.js'
import { signedInPerson } from '../../support/people/people.js'
import { ledger } from './ledger.js'

export const webTarget = {
  operator: 'https://admin.example.com/signed-in?from=oauth',
  client: 'https://app.example.com/signed-in',
} as const

export const appTarget = {
  operator: 'com.example.admin:/signed-in',
  client: 'com.example.app:/signed-in',
} as const

export const appVerifier = 'an-app-keeps-this-verifier-to-itself-0123456789'
export const appChallenge = createHash('sha256').update(appVerifier).digest('base64url')

export const targets = (['operator', 'client'] as const).flatMap((surface) => [
  { slug: `${surface}-web`, uri: webTarget[surface], surface, flow: 'web' as const },
  {
    slug: `${surface}-app`,
    uri: appTarget[surface],
    surface,
    flow: 'mobile' as const,
    appId: 'org.example',
  },
])

/** A person's browser on a flow: where the provider is, and what it keeps meanwhile. */
export interface Flow {
  readonly authorizationUrl: string
  /** `name=value`. */
  readonly cookie: string
}

/** What browsers and apps do with a host, and with the providers behind it. */
export interface OauthSteps {
  /** By a link of the host's own page, unless `headers` say otherwise. */
  startWeb(
    surface: Surface,
    provider: ProviderId,
    query?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>
  /** As `startWeb`; fails unless it leads to the provider. */
  depart(surface: Surface, provider: ProviderId): Promise<Flow>
  startApp(surface: Surface, provider: ProviderId, body?: object): Promise<Reply>
  /** As `startApp`; the address to open. */
  departFromApp(surface: Surface, provider: ProviderId, body?: object): Promise<string>
  /** The browser comes to the callback, as the provider has it do. */
  comeBack(
    surface: Surface,
    provider: ProviderId,
    parameters: Readonly<Record<string, string>>,
    cookie?: string,
    /** The address it comes from; a new one by default. */
    from?: string,
  ): Promise<Reply>
  exchange(surface: Surface, code: string, more?: object): Promise<Reply>
  /** All of it; the reply of the callback. */
  signIn(surface: Surface, provider: ProviderId, account: Account): Promise<Reply>
  /** All of it; the reply of the exchange. */
  signInApp(surface: Surface, provider: ProviderId, account: Account): Promise<Reply>
}

export interface OauthHost extends ContractHost, OauthSteps {
  readonly stub: ProviderStub
  /** The collections that hold accounts and sessions by now, once for each document, sorted. */
  made(): readonly string[]
}

/** Options of a host that is registered with all four stand-ins and lets everybody in. */
export async function oauthOptions(now: () => number) {
  const { privatePem, publicKey } = await appleKeys()
  const stub = await providerStub(now, publicKey)
  const settings: InitialSettings = {
    ...registeredSettings(privatePem),
    ...allEnabled,
    oauthRedirectTargets: targets,
  }
  return { stub, settings }
}

export async function oauthHost(
  options: HostOptions = {},
  kind: HostKind = memoryHost,
): Promise<OauthHost> {
  let now = () => 0
  const { stub, settings } = await oauthOptions(() => now())
  const all = { ...settings, ...options.settings }
  const documents = ledger()
  const wrapBackend = (backend: Backend) =>
    documents.watched(options.wrapBackend?.(backend) ?? backend)
  const given = { ...withoutLimits, fetcher: stub, ...options, settings: all, wrapBackend }
  const host = await openHost(given, kind)
  now = () => host.clock.now()
  return { ...host, ...oauthSteps(host, stub), stub, made: documents.names }
}

interface People {
  agree(
    authorizationUrl: string,
    account: Account,
  ): Record<string, string> | Promise<Record<string, string>>
}

/** What a browser says of a link on the host's own page. */
const ownLink = {
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-user': '?1',
}

export function oauthSteps(host: Pick<ContractHost, 'send'>, people: People): OauthSteps {
  const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`

  const startWeb: OauthSteps['startWeb'] = (surface, provider, query = {}, headers = ownLink) => {
    const members = new URLSearchParams({ redirectUri: webTarget[surface], ...query })
    return host.send('GET', at(surface, `/oauth/${provider}/start?${members}`), { headers })
  }

  const startApp: OauthSteps['startApp'] = (surface, provider, body = {}) =>
    host.send('POST', at(surface, `/mobile/oauth/${provider}/start`), {
      body: {
        redirectUri: appTarget[surface],
        codeChallenge: appChallenge,
        codeChallengeMethod: 'S256',
        ...body,
      },
    })

  const depart: OauthSteps['depart'] = async (surface, provider) => {
    const reply = await startWeb(surface, provider)
    assert.equal(reply.status, 302, reply.text)
    return { authorizationUrl: locationOf(reply), cookie: flowCookieOf(reply) }
  }

  const departFromApp: OauthSteps['departFromApp'] = async (surface, provider, body) => {
    const reply = await startApp(surface, provider, body)
    assert.equal(reply.status, 200, reply.text)
    return textOf(reply.json(), 'authorizationUrl')
  }

  const comeBack: OauthSteps['comeBack'] = (surface, provider, parameters, cookie, from) => {
    const path = at(surface, `/oauth/${provider}/callback`)
    const members = new URLSearchParams(parameters)
    const known = cookie === undefined ? {} : { cookie }
    const origin = from === undefined ? {} : { 'x-forwarded-for': from }
    if (provider !== 'apple') {
      return host.send('GET', `${path}?${members}`, { ...known, headers: origin })
    }
    const headers = {
      ...origin,
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://appleid.apple.com',
      'sec-fetch-site': 'cross-site',
    }
    return host.send('POST', path, { ...known, body: members.toString(), headers })
  }

  const exchange: OauthSteps['exchange'] = (surface, code, more = {}) => {
    const body = { code, codeVerifier: appVerifier, ...more }
    return host.send('POST', at(surface, '/mobile/oauth/exchange'), { body })
  }

  return {
    startWeb,
    depart,
    startApp,
    departFromApp,
    comeBack,
    exchange,
    async signIn(surface, provider, account) {
      const { authorizationUrl, cookie } = await depart(surface, provider)
      return comeBack(surface, provider, await people.agree(authorizationUrl, account), cookie)
    },
    async signInApp(surface, provider, account) {
      const url = await departFromApp(surface, provider)
      const back = await comeBack(surface, provider, await people.agree(url, account))
      assert.equal(back.status, 302, back.text)
      return exchange(surface, memberOf(back, 'code'))
    },
  }
}

export function locationOf(reply: Reply): string {
  return reply.headers.get('location') ?? assert.fail(`no location: ${reply.status} ${reply.text}`)
}

/** Of where a reply leads to; empty when neither its query nor its fragment has such a member. */
export function memberOf(reply: Reply, name: string): string {
  const { searchParams, hash } = new URL(locationOf(reply))
  return searchParams.get(name) ?? new URLSearchParams(hash.slice(1)).get(name) ?? ''
}

/** `name=value` of what the browser keeps of a flow. */
export function flowCookieOf(reply: Reply): string {
  const found = reply.setCookies.find((cookie) =>
    /^[\w-]+_oauth(_form)?_[\w-]{16}=[^;]/.test(cookie),
  )
  return found?.split(';')[0] ?? assert.fail(`no cookie of a flow: ${reply.setCookies.join()}`)
}

/** As an administrator changes them, whom the host's authorizer must let. */
export async function changeSettings(
  host: ContractHost,
  config: Readonly<Record<string, string>>,
): Promise<void> {
  const { bearer } = await signedInPerson(host, 'operator')
  const path = '/v1/admin/modules/auth/environments/production'
  const reply = await host.send('PATCH', path, { bearer, body: { config } })
  assert.equal(reply.status, 200, reply.text)
}

/** Past every check of the library, and in force. */
export async function storeSettings(
  host: ContractHost,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const { environments } = moduleCollectionsOf(host.backend.store, '')
  const seen = (await environments.get('auth/production')) ?? assert.fail('no settings')
  const next = { values: { ...seen.values, ...values }, revision: seen.revision + 1 }
  await environments.update(seen.id, { revision: seen.revision }, next)
  await host.clock.advance(30_000)
}

/** What the page a login waits on goes on with: the ticket in its address, the cookie by itself. */
export function waitingOf(reply: Reply): { readonly mfaToken: string; readonly cookie: string } {
  return { mfaToken: memberOf(reply, 'ticket'), cookie: flowCookieOf(reply) }
}

const issuers = {
  google: 'https://accounts.google.com',
  microsoft: `https://login.microsoftonline.com/${tenants.acme}/v2.0`,
  apple: 'https://appleid.apple.com',
  github: 'https://github.com/login/oauth',
} as const satisfies Record<ProviderId, string>

/** Whose an account at a provider is, as stored; null when it is nobody's. */
export function identityOf(
  host: ContractHost,
  surface: Surface,
  provider: ProviderId,
  { subject }: Account,
): Promise<OauthIdentity | null> {
  const name = JSON.stringify([provider, issuers[provider], subject])
  const id = createHash('sha256').update(name).digest('base64url')
  return storedIn(host, surface).oauthIdentities.get(id)
}
