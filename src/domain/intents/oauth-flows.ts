import { randomToken, sha256 } from '../../crypto/secrets.js'
import { rulesOf } from '../../engine/intents.js'
import { recognitionIds } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderCredentials, SignInSecrets } from '../../identity-providers/provider.js'
import type { ProviderClients } from '../../identity-providers/provider-clients.js'
import type { ProviderId } from '../../identity-providers/providers.js'
import type { OauthFlow } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { type BrowserKey, flowNameOf } from './browser-keys.js'
import type { IntentJudge } from './intent-judge.js'
import type { SpentIntent } from './spent-intent.js'

export interface FlowFacts
  extends Pick<OauthFlow, 'redirectUri' | 'codeChallenge' | 'appState' | 'termsVersion'> {
  readonly provider: ProviderId
  readonly kind: OauthFlow['kind']
  /** The user who links an account, and the session they do it in; null unless `link`. */
  readonly linker: { readonly user: User; readonly sessionId: string } | null
  /**
   * What the browser is known by at logins; null without. The way back may come without its cookies,
   * from another site.
   */
  readonly recognitionId: string | null
  /** Whether the provider is to let the person choose an account. Default false. */
  readonly asksForAccount?: boolean
}

/** A flow to a provider that has begun. */
export interface BegunFlow {
  readonly authorizationUrl: string
  /** Whole seconds in which it has to come back. */
  readonly expiresIn: number
}

/** A flow that came back. What it is for is hidden until it is judged. */
export interface TakenFlow {
  /** Where the browser or the app goes on, also when nothing comes of the flow. */
  readonly back: Pick<OauthFlow, 'provider' | 'kind' | 'redirectUri' | 'appState'>
  readonly secrets: SignInSecrets
  /** The browser's recognition id when the flow began. */
  readonly recognitionId: string | null
  /** The callback that the provider was told. */
  readonly redirectUri: string
  /** Throws `oauth_provider_disabled` and, for a link, `oauth_failed`. */
  intent(): Promise<FlowIntent>
}

/** What a flow that came back may lead to. */
export type FlowIntent = SignInIntent | LinkIntent
export type SignInIntent = SpentIntent<'oauthWeb', null> | SpentIntent<'oauthApp', null>
export type LinkIntent = SpentIntent<'oauthLink'>

/** Flows to providers, each of which comes back once, to the browser it began in. */
export interface OauthFlows {
  /** For an app, which keeps a verifier of its own. */
  beginForApp(facts: FlowFacts, credentials: ProviderCredentials): Promise<BegunFlow>
  /**
   * With what the browser is to keep in a cookie: new for each flow, because a key that it shows may
   * have been planted there by another person, who knows it.
   */
  beginInBrowser(
    facts: FlowFacts,
    credentials: ProviderCredentials,
  ): Promise<BegunFlow & Pick<BrowserKey, 'flow' | 'key'>>
  /** Spends it. Throws `invalid_oauth_state` unless it is this provider's and this browser's. */
  take(provider: ProviderId, state: string, browserKey: string | null): Promise<TakenFlow>
  /** Whether a link may still be made. A deletion disables first and looks then. */
  isGood(intent: LinkIntent): Promise<boolean>
}

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'clock' | 'random' | 'secretBox' | 'routesUrl'
  > {
  readonly providers: ProviderClients
}

/** What the browser keeps of a flow lasts as long, and so outlives a login ticket. */
export const flowSeconds = 10 * 60

export function createOauthFlows(deps: Deps, judge: IntentJudge): OauthFlows {
  const { surface, clock, random, secretBox } = deps
  const { oauthFlows } = deps.collections
  const placeOf = (id: string) => ({ module: 'oauth', environment: surface, key: id })
  const callbackOf = (provider: string): string =>
    `${deps.routesUrl}/v1/auth/${surface}/oauth/${provider}/callback`

  /** Encrypted, because the code and the verifier together give the person's tokens. */
  function seal({ state, ...kept }: SignInSecrets, recognitionId: string | null): string {
    // No more of it than ids: a stranger may have sent anything.
    const all = { ...kept, recognitionId: recognitionIds(recognitionId).join('.') }
    return secretBox.seal(JSON.stringify(all), placeOf(sha256(state)))
  }

  function open({ id, sealedSecrets }: OauthFlow, state: string) {
    const kept: unknown = JSON.parse(secretBox.open(sealedSecrets, placeOf(id)) ?? 'null')
    if (!isKept(kept)) throw new AuthError('service_unavailable')
    const { nonce, codeVerifier, recognitionId = '' } = kept
    return { secrets: { state, nonce, codeVerifier }, recognitionId }
  }

  function openLink(flow: OauthFlow) {
    const { id, provider, userId, sessionId, credentialEpoch, deviceEpoch, expiresAt } = flow
    const epochs = { credentialEpoch, deviceEpoch }
    const facts = { id, provider, userId, sessionId, ...epochs, expiresAt }
    return judge.open('oauthLink', facts, flow)
  }

  async function intentOf(flow: OauthFlow): Promise<FlowIntent> {
    const { id, kind, provider, expiresAt } = flow
    if (kind === 'link') return judge.spend(await openLink(flow))
    const facts = { id, provider, expiresAt }
    return kind === 'web'
      ? judge.spend(await judge.openAnonymous('oauthWeb', facts, flow))
      : judge.spend(await judge.openAnonymous('oauthApp', facts, flow))
  }

  /** A key of null is an app's, which has none. */
  async function begin(
    { linker, recognitionId, asksForAccount = false, ...facts }: FlowFacts,
    credentials: ProviderCredentials,
    { state, browserKey }: { readonly state: string; readonly browserKey: string | null },
  ): Promise<BegunFlow> {
    const { provider } = facts
    const secrets: SignInSecrets = {
      state,
      nonce: randomToken(random),
      codeVerifier: randomToken(random),
    }
    const stored = await oauthFlows.insert({
      id: sha256(secrets.state),
      ...facts,
      userId: linker?.user.id ?? '',
      sessionId: linker?.sessionId ?? '',
      credentialEpoch: linker?.user.credentialEpoch ?? 0,
      deviceEpoch: linker?.user.deviceEpoch ?? 0,
      browserHash: browserKey === null ? '' : sha256(browserKey),
      sealedSecrets: seal(secrets, recognitionId),
      expiresAt: clock.now() + flowSeconds * 1000,
    })
    if (!stored) throw new AuthError('service_unavailable')
    const request = { ...secrets, redirectUri: callbackOf(provider), asksForAccount }
    return {
      authorizationUrl: deps.providers.authorizationUrl(provider, credentials, request),
      expiresIn: flowSeconds,
    }
  }

  return {
    beginForApp: (facts, credentials) =>
      begin(facts, credentials, { state: randomToken(random), browserKey: null }),

    async beginInBrowser(facts, credentials) {
      const [state, key] = [randomToken(random), randomToken(random)]
      const begun = await begin(facts, credentials, { state, browserKey: key })
      return { ...begun, flow: flowNameOf(state), key }
    },

    async take(provider, state, browserKey) {
      const id = sha256(state)
      const seen = await oauthFlows.get(id)
      const isOwn = seen?.kind === 'mobile' || browserKey !== null
      if (seen === null || !isOwn || seen.expiresAt <= clock.now()) {
        throw new AuthError('invalid_oauth_state')
      }
      // The wrong browser takes nothing away from the right one.
      const browserHash = seen.kind === 'mobile' ? '' : sha256(browserKey ?? '')
      const flow = await oauthFlows.take(id, { provider, browserHash })
      if (flow === null) throw new AuthError('invalid_oauth_state')
      const { kind, redirectUri, appState } = flow
      return {
        back: { provider, kind, redirectUri, appState },
        ...open(flow, state),
        redirectUri: callbackOf(provider),
        intent: () => intentOf(flow),
      }
    },

    async isGood({ payload }) {
      try {
        await openLink(payload)
        return true
      } catch (error) {
        if (error instanceof AuthError && isRefusal(error)) return false
        throw error
      }
    },
  }
}

/** What the judge says of a link that may not be made; anything else is an outage. */
function isRefusal({ code }: AuthError): boolean {
  const { refusal, expired, switchedOff } = rulesOf('oauthLink')
  return code === refusal || code === expired || code === switchedOff
}

interface Kept extends Pick<SignInSecrets, 'nonce' | 'codeVerifier'> {
  /** Absent in a flow that began before there were any. */
  readonly recognitionId?: string
}

function isKept(value: unknown): value is Kept {
  return (
    typeof value === 'object' &&
    value !== null &&
    'nonce' in value &&
    typeof value.nonce === 'string' &&
    'codeVerifier' in value &&
    typeof value.codeVerifier === 'string' &&
    (!('recognitionId' in value) || typeof value.recognitionId === 'string')
  )
}
