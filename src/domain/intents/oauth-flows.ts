import { equalConstantTime, randomToken, sha256 } from '../../crypto/secrets.js'
import { rulesOf } from '../../engine/intents.js'
import { recognitionIds } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderCredentials, SignInSecrets } from '../../identity-providers/provider.js'
import type { ProviderId } from '../../identity-providers/providers.js'
import type { OauthCode, OauthFlow } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { endSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { openAnonymousIntent, openIntent, type SpentIntent, spendIntent } from './intent-judge.js'

// Flows to providers, each of which comes back once, to the browser it began in.

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

/** What the browser keeps of a flow lasts as long, and so outlives a login ticket. */
export const flowSeconds = 10 * 60

function placeOf(ctx: SurfaceContext, id: string) {
  return { module: 'oauth', environment: ctx.surface, key: id }
}

function callbackOf(ctx: SurfaceContext, provider: string): string {
  return `${ctx.routesUrl}/v1/auth/${ctx.surface}/oauth/${provider}/callback`
}

/** Encrypted, because the code and the verifier together give the person's tokens. */
function seal(
  ctx: SurfaceContext,
  { state, ...kept }: SignInSecrets,
  recognitionId: string | null,
): string {
  // No more of it than ids: a stranger may have sent anything.
  const all = { ...kept, recognitionId: recognitionIds(recognitionId).join('.') }
  return ctx.secretBox.seal(JSON.stringify(all), placeOf(ctx, sha256(state)))
}

function open(ctx: SurfaceContext, { id, sealedSecrets }: OauthFlow, state: string) {
  const kept: unknown = JSON.parse(ctx.secretBox.open(sealedSecrets, placeOf(ctx, id)) ?? 'null')
  if (!isKept(kept)) throw new AuthError('service_unavailable')
  const { nonce, codeVerifier, recognitionId = '' } = kept
  return { secrets: { state, nonce, codeVerifier }, recognitionId }
}

function openLink(ctx: SurfaceContext, flow: OauthFlow) {
  const { id, provider, userId, sessionId, credentialEpoch, deviceEpoch, expiresAt } = flow
  const epochs = { credentialEpoch, deviceEpoch }
  const facts = { id, provider, userId, sessionId, ...epochs, expiresAt }
  return openIntent(ctx, 'oauthLink', facts, flow)
}

async function intentOf(ctx: SurfaceContext, flow: OauthFlow): Promise<FlowIntent> {
  const { id, kind, provider, expiresAt } = flow
  if (kind === 'link') return spendIntent(await openLink(ctx, flow))
  const facts = { id, provider, expiresAt }
  return kind === 'web'
    ? spendIntent(await openAnonymousIntent(ctx, 'oauthWeb', facts, flow))
    : spendIntent(await openAnonymousIntent(ctx, 'oauthApp', facts, flow))
}

/** A key of null is an app's, which has none. */
async function begin(
  ctx: SurfaceContext,
  { linker, recognitionId, asksForAccount = false, ...facts }: FlowFacts,
  credentials: ProviderCredentials,
  { state, browserKey }: { readonly state: string; readonly browserKey: string | null },
): Promise<BegunFlow> {
  const { provider } = facts
  const secrets: SignInSecrets = {
    state,
    nonce: randomToken(ctx.random),
    codeVerifier: randomToken(ctx.random),
  }
  const stored = await ctx.collections.oauthFlows.insert({
    id: sha256(secrets.state),
    ...facts,
    userId: linker?.user.id ?? '',
    sessionId: linker?.sessionId ?? '',
    credentialEpoch: linker?.user.credentialEpoch ?? 0,
    deviceEpoch: linker?.user.deviceEpoch ?? 0,
    browserHash: browserKey === null ? '' : sha256(browserKey),
    sealedSecrets: seal(ctx, secrets, recognitionId),
    expiresAt: ctx.clock.now() + flowSeconds * 1000,
  })
  if (!stored) throw new AuthError('service_unavailable')
  const request = { ...secrets, redirectUri: callbackOf(ctx, provider), asksForAccount }
  return {
    authorizationUrl: ctx.providers.authorizationUrl(provider, credentials, request),
    expiresIn: flowSeconds,
  }
}

/** For an app, which keeps a verifier of its own. */
export function beginAppFlow(
  ctx: SurfaceContext,
  facts: FlowFacts,
  credentials: ProviderCredentials,
): Promise<BegunFlow> {
  return begin(ctx, facts, credentials, { state: randomToken(ctx.random), browserKey: null })
}

/**
 * With what the browser is to keep in a cookie: new for each flow, because a key that it shows may
 * have been planted there by another person, who knows it.
 */
export async function beginBrowserFlow(
  ctx: SurfaceContext,
  facts: FlowFacts,
  credentials: ProviderCredentials,
): Promise<BegunFlow & Pick<BrowserKey, 'flow' | 'key'>> {
  const [state, key] = [randomToken(ctx.random), randomToken(ctx.random)]
  const begun = await begin(ctx, facts, credentials, { state, browserKey: key })
  return { ...begun, flow: flowNameOf(state), key }
}

/** Spends it. Throws `invalid_oauth_state` unless it is this provider's and this browser's. */
export async function takeOauthFlow(
  ctx: SurfaceContext,
  provider: ProviderId,
  state: string,
  browserKey: string | null,
): Promise<TakenFlow> {
  const id = sha256(state)
  const seen = await ctx.collections.oauthFlows.get(id)
  const isOwn = seen?.kind === 'mobile' || browserKey !== null
  if (seen === null || !isOwn || seen.expiresAt <= ctx.clock.now()) {
    throw new AuthError('invalid_oauth_state')
  }
  // The wrong browser takes nothing away from the right one.
  const browserHash = seen.kind === 'mobile' ? '' : sha256(browserKey ?? '')
  const flow = await ctx.collections.oauthFlows.take(id, { provider, browserHash })
  if (flow === null) throw new AuthError('invalid_oauth_state')
  const { kind, redirectUri, appState } = flow
  return {
    back: { provider, kind, redirectUri, appState },
    ...open(ctx, flow, state),
    redirectUri: callbackOf(ctx, provider),
    intent: () => intentOf(ctx, flow),
  }
}

/** Whether a link may still be made. A deletion disables first and looks then. */
export async function isGoodOauthFlow(
  ctx: SurfaceContext,
  { payload }: LinkIntent,
): Promise<boolean> {
  try {
    await openLink(ctx, payload)
    return true
  } catch (error) {
    if (error instanceof AuthError && isRefusal(error)) return false
    throw error
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

/** How an answer comes back, and so which cookie comes back with it (RFC 6265bis §5.6.7.1). */
export type ResponseMode = 'query' | 'form_post'

/** What a browser keeps of one flow, in a cookie of the flow's own. */
export interface BrowserKey {
  readonly mode: ResponseMode
  /** Names the flow, in the cookie's name: 16 characters of base64url. It is no secret. */
  readonly flow: string
  readonly key: string
}

/** What a browser sent of all its flows, the oldest first. */
export type BrowserKeys = readonly BrowserKey[]

/** The name of a flow, from the `state` that it sent along. */
export function flowNameOf(state: string): string {
  return sha256(`flow ${state}`).slice(0, 16)
}

/** Whether one of them is the key whose SHA-256 this is. Looks at all of them in any case. */
export function isOwnBrowser(browserHash: string, keys: BrowserKeys): boolean {
  return keys.map(({ key }) => equalConstantTime(sha256(key), browserHash)).includes(true)
}

// Codes that apps exchange for a login. A code that comes a second time with the right verifier is
// in two hands: what it gave to the first is ended (RFC 6749 §4.1.2). There is no grace, as of
// refresh tokens: an app whose answer was lost begins again, which costs the person nothing.

type CodeFacts = Omit<
  OauthCode,
  'id' | 'goodUntil' | 'redeemedAt' | 'replayedAt' | 'sessionId' | 'expiresAt'
>

export type CodeIntent = SpentIntent<'appCode'>

/** The session that a code came to, and whose it is. */
interface OpenedSession {
  readonly sessionId: string
  readonly user: { readonly id: string }
}

/** RFC 6749 §4.1.2 asks for a short life; an app redeems a code at once. */
const codeLifeMs = 60 * 1000
/** Beyond the end of a login ticket that a code became, so that neither outlives what ends it. */
const keptMs = 10 * 60 * 1000
/** RFC 7636 §4.1 */
const verifierForm = /^[\w.~-]{43,128}$/

/**
 * Marked before anything is ended: a login that is on its way finds the mark when it notes its
 * session. Marked already, the ending may have been cut short, and is done again.
 */
async function endFirst(
  ctx: SurfaceContext,
  id: string,
  codeChallenge: string,
  source: RequestSource,
): Promise<void> {
  const guard = { codeChallenge, replayedAt: null }
  const marked = await ctx.collections.oauthCodes.update(id, guard, { replayedAt: ctx.clock.now() })
  const code = marked ?? (await ctx.collections.oauthCodes.get(id))
  if (code?.codeChallenge !== codeChallenge || code.sessionId === null) return
  await endSession(ctx, { id: code.sessionId, userId: code.userId }, 'replay', source)
}

/** The code, for the redirect to the app. Not stored. */
export async function issueOauthCode(ctx: SurfaceContext, facts: CodeFacts): Promise<string> {
  const code = randomToken(ctx.random)
  const now = ctx.clock.now()
  const stored = await ctx.collections.oauthCodes.insert({
    id: sha256(code),
    ...facts,
    goodUntil: now + codeLifeMs,
    redeemedAt: null,
    replayedAt: null,
    sessionId: null,
    expiresAt: now + keptMs,
  })
  if (!stored) throw new AuthError('service_unavailable')
  return code
}

/**
 * Spends it. Throws `invalid_token`, also for an account that changed since, and
 * `oauth_provider_disabled`; with another verifier than the app's, nothing is changed.
 */
export async function redeemOauthCode(
  ctx: SurfaceContext,
  code: string,
  codeVerifier: string,
  source: RequestSource,
): Promise<CodeIntent> {
  if (!verifierForm.test(codeVerifier)) throw new AuthError('invalid_token')
  const id = sha256(code)
  // A thief of the redirect URL has only the code, and can end nothing with it.
  const codeChallenge = sha256(codeVerifier)
  const redeemedAt = ctx.clock.now()
  const guard = { codeChallenge, redeemedAt: null }
  const redeemed = await ctx.collections.oauthCodes.update(id, guard, { redeemedAt })
  if (redeemed === null) {
    await endFirst(ctx, id, codeChallenge, source)
    throw new AuthError('invalid_token')
  }
  const { userId, provider, identityId, sessionEpoch, credentialEpoch, goodUntil } = redeemed
  // A second use that comes meanwhile is seen when the session is noted, and ends it.
  const first = { method: provider, identityId, oauthCodeId: '' }
  const epochs = { sessionEpoch, credentialEpoch }
  const facts = { id, userId, provider, first, ...epochs, expiresAt: goodUntil }
  return spendIntent(await openIntent(ctx, 'appCode', facts, redeemed))
}

/**
 * Notes the session the code came to, before a caller gets it. False when the code came again
 * meanwhile: then the session is ended.
 */
export async function bindOauthCode(
  ctx: SurfaceContext,
  codeId: string,
  { sessionId, user }: OpenedSession,
  source: RequestSource,
): Promise<boolean> {
  if (codeId === '') return true
  const kept = await ctx.collections.oauthCodes.update(codeId, { replayedAt: null }, { sessionId })
  if (kept !== null) return true
  await endSession(ctx, { id: sessionId, userId: user.id }, 'replay', source)
  return false
}
