import { isListedTarget, withFragment, withQuery } from '../../engine/addresses.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { ProviderCredentials } from '../../identity-providers/provider.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import { ProviderError } from '../../identity-providers/provider-error.js'
import {
  type ProviderId,
  providerId,
  providerIds,
  providers,
} from '../../identity-providers/providers.js'
import type { OauthFlow } from '../../model/intents.js'
import { isHuman } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import { credentialsFor, isProviderOffered } from '../context/provider-credentials.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { LinkOffersPart } from '../intents/assemble-intents.js'
import { type BrowserKeys, flowNameOf, type ResponseMode } from '../intents/browser-keys.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { OauthCodes } from '../intents/oauth-codes.js'
import type { BegunFlow, FlowFacts, OauthFlows, TakenFlow } from '../intents/oauth-flows.js'
import type { SpentIntent } from '../intents/spent-intent.js'
import type { FirstFactor } from '../login/first-factor.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { LoginResult } from '../login/login-result.js'
import type { ShownRecognition } from '../login/recognition.js'
import { notingBounce } from './bounced-sign-in.js'
import type { OauthAccounts } from './oauth-accounts.js'
import { oauthFailureOf } from './oauth-failure.js'
import type { OauthLinks } from './oauth-links.js'
import {
  type FlowCookie,
  membersOf,
  type Returned,
  refused,
  returned,
  surplusOf,
} from './oauth-return.js'

/** A browser's flow: where to, what to keep meanwhile, and what to forget of flows long before. */
export interface BrowserFlow extends BegunFlow {
  readonly cookies: readonly FlowCookie[]
}

/** What a browser brings back from a provider; null without. */
export interface ReturningBrowser {
  readonly keys: BrowserKeys
  readonly deviceToken: string | null
  /** The key of a sign-in that bounced before. */
  readonly linkKey: string | null
}

/** Signing in at an identity provider (OAuth 2.1, RFC 8252). */
export interface OauthSignIn {
  offered(): Promise<readonly { readonly id: ProviderId; readonly name: string }[]>
  /** Throws `not_found`, `oauth_provider_disabled` and `redirect_not_allowed`. */
  startWeb(
    provider: string,
    target: { readonly redirectUri: string; readonly termsVersion: string },
    browser: Pick<FlowFacts, 'recognitionId' | 'asksForAccount'> & { readonly keys: BrowserKeys },
  ): Promise<BrowserFlow>
  /** As `startWeb`; `codeChallenge` is the app's own (S256), for the exchange. */
  startMobile(
    provider: string,
    app: {
      readonly redirectUri: string
      readonly termsVersion: string
      readonly codeChallenge: string
      readonly appState: string | null
    },
  ): Promise<BegunFlow>
  /** As `startWeb`, and what `OauthLinks.prepare` throws. */
  startLink(
    who: SignedIn,
    provider: string,
    given: {
      readonly redirectUri: string
      readonly currentPassword: string | undefined
      readonly keys: BrowserKeys
    },
    source: RequestSource,
  ): Promise<BrowserFlow>
  /**
   * The way back. What goes wrong is passed to the host's page, but for `invalid_oauth_state`,
   * `redirect_not_allowed`, `not_found` and outages, which are thrown.
   */
  finish(
    provider: string,
    answer: { readonly mode: ResponseMode; readonly parameters: Readonly<Record<string, string>> },
    browser: ReturningBrowser,
    source: RequestSource,
  ): Promise<Returned>
  /** Throws `invalid_token`, `oauth_provider_disabled` and what a login throws. */
  exchange(
    given: {
      readonly code: string
      readonly codeVerifier: string
      readonly deviceToken: string | null
      readonly recognition: ShownRecognition
      readonly linkKey: ShownLinkKey
    },
    source: RequestSource,
  ): Promise<LoginResult>
}

interface Deps extends Pick<SurfaceContext, 'surface' | 'settings' | 'emit' | 'logger'> {
  readonly providers: ProviderClients
}

interface Services {
  readonly flows: OauthFlows
  readonly codes: OauthCodes
  readonly accounts: OauthAccounts
  readonly linkOffers: LinkOffersPart
  readonly links: OauthLinks
  readonly pipeline: LoginPipeline
}

/** What came back of a flow, and what its device is known by. */
interface Arrived extends Pick<ReturningBrowser, 'deviceToken' | 'linkKey'> {
  readonly parameters: Readonly<Record<string, string>>
}

/** What a flow came to; `login` of a browser's own, null of the others. */
interface Settled {
  readonly members: Record<string, string>
  readonly login: LoginResult | null
}

export function createOauthSignIn(deps: Deps, services: Services): OauthSignIn {
  const { surface } = deps
  const { flows, codes, accounts, linkOffers, links, pipeline } = services

  async function requireListed(uri: string, kind: OauthFlow['kind']): Promise<void> {
    const { oauthRedirectTargets } = await deps.settings()
    const flow = kind === 'mobile' ? 'mobile' : 'web'
    if (!isListedTarget(oauthRedirectTargets, { uri, surface, flow })) {
      throw new AuthError('redirect_not_allowed')
    }
  }

  /** Read again at every step: administrators switch providers off while people are on their way. */
  const credentialsOf = async (provider: ProviderId): Promise<ProviderCredentials> =>
    credentialsFor(provider, surface, await deps.settings())

  async function startInBrowser(
    provider: ProviderId,
    facts: Omit<FlowFacts, 'provider' | 'codeChallenge' | 'appState'>,
    keys: BrowserKeys,
  ): Promise<BrowserFlow> {
    const credentials = await credentialsOf(provider)
    await requireListed(facts.redirectUri, facts.kind)
    const mode = providers[provider].responseMode
    const all = { ...facts, provider, codeChallenge: '', appState: null }
    const { flow, key, ...begun } = await flows.beginInBrowser(all, credentials)
    const cookie = { mode, flow, key, expiresIn: begun.expiresIn }
    return { ...begun, cookies: [...surplusOf(keys), cookie] }
  }

  /** For an app: the session is opened when it shows its verifier, and no token is in an address. */
  async function issueCode(
    { payload }: SpentIntent<'oauthApp', null>,
    { user, identityId }: Awaited<ReturnType<OauthAccounts['accountOf']>>,
  ): Promise<string> {
    if (!user.enabled || !isHuman(user)) throw new AuthError('invalid_credentials')
    const { id: userId, sessionEpoch, credentialEpoch } = user
    const { provider, codeChallenge } = payload
    const account = { userId, identityId, sessionEpoch, credentialEpoch }
    return codes.issue({ ...account, provider, codeChallenge })
  }

  async function logInBrowser(
    { payload }: SpentIntent<'oauthWeb', null>,
    { user, identityId }: Awaited<ReturnType<OauthAccounts['accountOf']>>,
    device: Pick<FirstFactor, 'deviceToken' | 'recognition' | 'linkKey'>,
    source: RequestSource,
  ): Promise<Settled> {
    const { provider: method, browserHash } = payload
    const federated = { identityId, browserHash, oauthCodeId: '' }
    const first = { user, method, amr: [], factors: null, second: null, ...device }
    const login = await pipeline.proceed({ ...first, federated, delivery: 'cookie' }, source)
    return { members: membersOf(login), login }
  }

  async function settle(
    provider: ProviderId,
    taken: TakenFlow,
    { parameters, deviceToken, linkKey: cookie }: Arrived,
    source: RequestSource,
  ): Promise<Settled> {
    const { back, secrets, redirectUri } = taken
    // First, because every other failure is passed to this address.
    await requireListed(back.redirectUri, back.kind)
    const intent = await taken.intent()
    const credentials = await credentialsOf(provider)
    const answer = { parameters, secrets, redirectUri }
    const profile = await deps.providers.whoSignedIn(provider, credentials, answer)
    if (intent.kind === 'oauthLink') {
      await links.complete(intent, profile, source)
      return { members: { status: 'linked' }, login: null }
    }
    const arrived = { profile, intent }
    const attempt = accounts.accountOf(arrived, source)
    const found = await (linkOffers === null ? attempt : notingBounce(linkOffers, arrived, attempt))
    if (intent.kind === 'oauthApp') {
      return { members: { code: await issueCode(intent, found) }, login: null }
    }
    const recognition = { cookie: taken.recognitionId, body: null }
    const device = { deviceToken, recognition, linkKey: { cookie, body: null } }
    return logInBrowser(intent, found, device, source)
  }

  function emitFailure(
    error: unknown,
    { provider, kind }: TakenFlow['back'],
    source: RequestSource,
  ): void {
    if (error instanceof ProviderError && !error.isDenial) {
      const why = { provider, reason: error.message, ...describeError(error) }
      deps.logger.warn('a provider did not say who signed in', why)
    }
    const reason = oauthFailureOf(error)
    // The pipeline emitted this one itself.
    if (reason === null || reason === 'email_not_verified' || kind === 'link') return
    deps.emit('login.failed', source, { userId: null, method: provider, reason })
  }

  return {
    async offered() {
      const settings = await deps.settings()
      const ids = providerIds.filter((id) => isProviderOffered(id, surface, settings))
      return ids.map((id) => ({ id, name: providers[id].name }))
    },

    async startWeb(provider, target, { keys, ...browser }) {
      const facts = { kind: 'web', linker: null, ...browser, ...target } as const
      return startInBrowser(known(provider), facts, keys)
    },

    async startMobile(provider, app) {
      const id = known(provider)
      const credentials = await credentialsOf(id)
      await requireListed(app.redirectUri, 'mobile')
      const facts = { kind: 'mobile', provider: id, linker: null, recognitionId: null } as const
      return flows.beginForApp({ ...facts, ...app }, credentials)
    },

    async startLink(who, provider, { redirectUri, currentPassword, keys }, source) {
      const id = known(provider)
      await credentialsOf(id)
      await requireListed(redirectUri, 'link')
      await links.prepare(who, id, currentPassword, source)
      const { user, sessionId } = who
      const facts = { kind: 'link', redirectUri, linker: { user, sessionId } } as const
      const none = { termsVersion: '', recognitionId: null }
      return startInBrowser(id, { ...facts, ...none }, keys)
    },

    async finish(provider, { mode, parameters }, { keys, ...browser }, source) {
      const id = known(provider)
      if (providers[id].responseMode !== mode) throw new AuthError('not_found')
      const state = parameters['state'] ?? ''
      const name = flowNameOf(state)
      const own = keys.find((key) => key.mode === mode && key.flow === name)
      const taken = await flows.take(id, state, own?.key ?? null)
      const { back } = taken
      const echoed = back.appState === null ? {} : { state: back.appState }
      try {
        const { members, login } = await settle(id, taken, { parameters, ...browser }, source)
        // A ticket goes to the page alone, past the logs of its server.
        const located = 'ticket' in members ? withFragment : withQuery
        return returned(located(back.redirectUri, { ...members, ...echoed }), login, own)
      } catch (error) {
        emitFailure(error, back, source)
        const reason = oauthFailureOf(error)
        if (reason === null) throw error
        const location = withQuery(back.redirectUri, { error: reason, ...echoed })
        return refused(location, error)
      }
    },

    async exchange({ code, codeVerifier, ...device }, source) {
      const { user, payload } = await codes.redeem(code, codeVerifier, source)
      const { id: oauthCodeId, provider: method, identityId } = payload
      const first = { user, method, amr: [], factors: null, second: null, ...device }
      const federated = { identityId, browserHash: '', oauthCodeId }
      return pipeline.proceed({ ...first, federated, delivery: 'body' }, source)
    },
  }
}

/** Throws `not_found` for anything that names no provider. */
function known(text: string): ProviderId {
  const id = providerId(text)
  if (id === null) throw new AuthError('not_found')
  return id
}
