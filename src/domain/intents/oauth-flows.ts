import { equalConstantTime, randomToken, sha256 } from '../../crypto/secrets.js'
import { registrationKeys } from '../../engine/accounts.js'
import { recognitionIds } from '../../engine/login-risk-rules.js'
import { AuthError, describeError } from '../../errors/index.js'
import type {
  ProviderCredentials,
  SignInHints,
  SignInRequest,
  SignInSecrets,
} from '../../identity-providers/provider.js'
import { ProviderError } from '../../identity-providers/provider-error.js'
import { flowAnswerIn, flowSecretsIn, type Intents } from '../../model/intents.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { endSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  codeUses,
  intentOf,
  issueIntent,
  openAnonymousIntent,
  openIntent,
  type SpentIntent,
  spendIntent,
  unlessRefused,
} from './intents.js'
import { fetchRegistration, type KeptRegistration } from './pending-registrations.js'

// Flows to providers, each of which comes back once, to the browser it began in.

/** What a flow to a provider is for: a browser's login, an app's login, or one more way to sign in. */
const flowKinds = ['oauthWeb', 'oauthApp', 'oauthLink'] as const
export type FlowKind = (typeof flowKinds)[number]

type Flow = Intents[FlowKind]

export interface FlowFacts {
  readonly provider: string
  /** The host's own address the browser goes on to. */
  readonly redirectUri: string
  /** The terms accepted on the way; null when none were named. */
  readonly termsVersion: string | null
  /**
   * What the browser is known by at logins; null without. The way back may come without its cookies,
   * from another site.
   */
  readonly recognitionId: string | null
  /** The key of the browser's registrations; `null` if it has none. Apple's form comes back without the cookie. */
  readonly registrationKey: string | null
  /** Whether the provider is to let the person choose an account. Default false. */
  readonly asksForAccount?: boolean
  /** What the page asks of the provider. */
  readonly hints?: SignInHints
}

/** What an app says of its flow. */
export type AppFacts = Pick<Intents['oauthApp']['payload'], 'codeChallenge' | 'appState'>

/** The user who links an account, and the session they do it in; null for a login. */
export type Linker = { readonly user: User; readonly sessionId: string } | null

/** A flow to a provider that has begun. */
export interface BegunFlow {
  readonly authorizationUrl: string
  /** Whole seconds in which it has to come back. */
  readonly expiresIn: number
}

/** A flow that came back to its browser or app. */
export interface KnownFlow {
  readonly back: WayBack
  /** The session that this flow has opened already, at once or after a second factor; `null` if none. */
  readonly sessionId: string | null
  /** What the page was told of a login that was to wait for its second factor; `null` if none was. */
  readonly answer: FlowAnswer | null
  /** Spends the flow, once; `null` if it was spent before or has expired. */
  take(): Promise<TakenFlow | null>
}

/** Where the browser or the app goes on, also when nothing comes of the flow. */
export interface WayBack {
  readonly provider: string
  readonly kind: FlowKind
  readonly redirectUri: string
  /** `null` for browsers, and for apps that sent none. */
  readonly appState: string | null
}

/** A flow that is spent. What it is for is hidden until it is judged. */
export interface TakenFlow {
  readonly back: WayBack
  readonly secrets: SignInSecrets
  /** The browser's recognition id when the flow began, and what it kept of its registrations. */
  readonly recognitionId: string | null
  readonly registrationKey: string | null
  /** The callback that the provider was told. */
  readonly redirectUri: string
  /** Throws `oauth_provider_disabled` and, for a link, `oauth_failed`. */
  intent(): Promise<FlowIntent>
  /** Keeps what the page is told, encrypted: there is a ticket in it. */
  remember(answer: FlowAnswer): Promise<void>
}

/** Members of the address where the browser goes on. */
export type FlowAnswer = Readonly<Record<string, string>>

/** What a flow that came back may lead to. */
export type FlowIntent = SignInIntent | LinkIntent
export type SignInIntent = SpentIntent<'oauthWeb', null> | SpentIntent<'oauthApp', null>
export type LinkIntent = SpentIntent<'oauthLink'>

/** In which a flow has to come back, and for which it is known then. It is longer than a login ticket lives. */
export const flowSeconds = 10 * 60
const lifeMs = flowSeconds * 1000
/** What the browser keeps of a flow outlasts both. */
export const flowCookieSeconds = 2 * flowSeconds
const keptMs = flowCookieSeconds * 1000

function placeOf(ctx: SurfaceContext, id: string) {
  return { module: 'oauth', environment: ctx.surface, key: id }
}

function callbackOf(ctx: SurfaceContext, provider: string): string {
  return `${ctx.routesUrl}/v1/auth/${ctx.surface}/oauth/${provider}/callback`
}

function answerPlace(ctx: SurfaceContext, id: string) {
  return placeOf(ctx, `answer ${id}`)
}

/** Encrypted, because the code and the verifier together give the person's tokens. */
function seal(
  ctx: SurfaceContext,
  { state, ...kept }: SignInSecrets,
  { recognitionId, registrationKey }: Pick<FlowFacts, 'recognitionId' | 'registrationKey'>,
): string {
  // No more of them than ids and keys: a stranger may have sent anything.
  const all = {
    ...kept,
    recognitionId: recognitionIds(recognitionId).join('.'),
    registrationKey: registrationKeys(registrationKey).join('.'),
  }
  return ctx.secretBox.seal(JSON.stringify(all), placeOf(ctx, sha256(state)))
}

function open(ctx: SurfaceContext, { id, payload }: Flow, state: string) {
  const kept = flowSecretsIn(ctx.secretBox.open(payload.sealedSecrets, placeOf(ctx, id)))
  if (kept === null) throw new AuthError('service_unavailable')
  const { recognitionId, registrationKey, ...secrets } = kept
  return { secrets: { state, ...secrets }, recognitionId, registrationKey }
}

/** What all flows begin with, and where the browser or the app goes on to. */
async function begin(
  ctx: SurfaceContext,
  {
    provider,
    redirectUri,
    termsVersion,
    asksForAccount = false,
    hints = {},
    ...browser
  }: FlowFacts,
  credentials: ProviderCredentials,
  state: string,
) {
  const secrets: SignInSecrets = {
    state,
    nonce: randomToken(ctx.random),
    codeVerifier: randomToken(ctx.random),
  }
  const sealedSecrets = seal(ctx, secrets, browser)
  const request = { ...secrets, redirectUri: callbackOf(ctx, provider), asksForAccount, hints }
  const begun: BegunFlow = {
    authorizationUrl: await urlOf(ctx, provider, credentials, request),
    expiresIn: flowSeconds,
  }
  const goodUntil = ctx.clock.now() + lifeMs
  return { payload: { provider, redirectUri, termsVersion, sealedSecrets, goodUntil }, begun }
}

/** Throws `service_unavailable` where a declared provider cannot be asked for its endpoints. */
async function urlOf(
  ctx: SurfaceContext,
  provider: string,
  credentials: ProviderCredentials,
  request: SignInRequest,
): Promise<string> {
  try {
    return await ctx.providers.authorizationUrl(provider, credentials, request)
  } catch (cause) {
    if (!(cause instanceof ProviderError)) throw cause
    const why = { provider, reason: cause.message, ...describeError(cause) }
    ctx.logger.warn('a provider could not be discovered', why)
    throw new AuthError('service_unavailable', { cause })
  }
}

/** For an app, which keeps a verifier of its own. */
export async function beginAppFlow(
  ctx: SurfaceContext,
  facts: FlowFacts,
  app: AppFacts,
  credentials: ProviderCredentials,
): Promise<BegunFlow> {
  const state = randomToken(ctx.random)
  const { payload, begun } = await begin(ctx, facts, credentials, state)
  const terms = { user: null, boundTo: null, payload: { ...payload, ...app }, lifeMs: keptMs }
  await issueIntent(ctx, 'oauthApp', state, terms)
  return begun
}

/**
 * With what the browser is to keep in a cookie: new for each flow, because a key that it shows may
 * have been planted there by another person, who knows it.
 */
export async function beginBrowserFlow(
  ctx: SurfaceContext,
  facts: FlowFacts,
  linker: Linker,
  credentials: ProviderCredentials,
): Promise<BegunFlow & Pick<BrowserKey, 'flow' | 'key'>> {
  const [state, key] = [randomToken(ctx.random), randomToken(ctx.random)]
  const { payload, begun } = await begin(ctx, facts, credentials, state)
  const terms = { boundTo: sha256(key), lifeMs: keptMs }
  if (linker === null) {
    await issueIntent(ctx, 'oauthWeb', state, { ...terms, user: null, payload })
  } else {
    const { user, sessionId } = linker
    await issueIntent(ctx, 'oauthLink', state, {
      ...terms,
      user,
      payload: { ...payload, sessionId },
    })
  }
  return { ...begun, flow: flowNameOf(state), key }
}

/** Throws `invalid_oauth_state` unless it is this provider's and this browser's. Nothing is spent. */
export async function findOauthFlow(
  ctx: SurfaceContext,
  provider: string,
  state: string,
  browserKey: string | null,
): Promise<KnownFlow> {
  const id = sha256(state)
  const seen = await ctx.collections.challenges.get(id)
  const kind = flowKinds.find((one) => one === seen?.kind)
  const flow = kind === undefined ? null : intentOf(ctx, kind, seen)
  // The wrong browser takes nothing away from the right one. An app's state alone names its flow.
  const boundTo = flow?.kind === 'oauthApp' ? null : sha256(browserKey ?? '')
  const isOwn = flow?.payload.provider === provider && flow.boundTo === boundTo
  if (flow === null || !isOwn || !isRemembered(ctx, flow))
    throw new AuthError('invalid_oauth_state')
  const { redirectUri } = flow.payload
  const appState = flow.kind === 'oauthApp' ? flow.payload.appState : null
  const back = { provider, kind: flow.kind, redirectUri, appState }
  return {
    back,
    sessionId: seen?.sessionId ?? null,
    answer: flowAnswerIn(ctx.secretBox.open(flow.payload.sealedSecrets, answerPlace(ctx, id))),
    take: () => takeFlow(ctx, back, flow, state),
  }
}

/** One that came back is known for as long as one may be on its way; one that never did, until it is gone. */
function isRemembered(ctx: SurfaceContext, { attempts, payload, expiresAt }: Flow): boolean {
  return (attempts === 0 ? expiresAt : payload.goodUntil) > ctx.clock.now()
}

async function takeFlow(
  ctx: SurfaceContext,
  back: WayBack,
  flow: Flow,
  state: string,
): Promise<TakenFlow | null> {
  const { id, payload } = flow
  const now = ctx.clock.now()
  if (flow.attempts !== 0 || payload.goodUntil <= now) return null
  // Remembered for the person who comes again, by Back or by a reload. What is left of it opens nothing.
  const spent = { ...payload, sealedSecrets: '', goodUntil: now + lifeMs }
  const set = { attempts: 1, payload: spent }
  if ((await ctx.collections.challenges.update(id, { attempts: 0 }, set)) === null) return null
  return {
    back,
    ...open(ctx, flow, state),
    redirectUri: callbackOf(ctx, back.provider),
    intent: () => intentOfFlow(ctx, flow),
    async remember(answer) {
      const sealedSecrets = ctx.secretBox.seal(JSON.stringify(answer), answerPlace(ctx, id))
      const set = { payload: { ...spent, sealedSecrets } }
      await ctx.collections.challenges.update(id, { attempts: 1 }, set)
    },
  }
}

async function intentOfFlow(ctx: SurfaceContext, flow: Flow): Promise<FlowIntent> {
  if (flow.kind === 'oauthLink') return spendIntent(await openIntent(ctx, flow.kind, flow))
  return flow.kind === 'oauthWeb'
    ? spendIntent(await openAnonymousIntent(ctx, flow.kind, flow))
    : spendIntent(await openAnonymousIntent(ctx, flow.kind, flow))
}

/** Whether a link may still be made. A deletion disables first and looks then. */
export async function isGoodOauthFlow(
  ctx: SurfaceContext,
  { stored }: LinkIntent,
): Promise<boolean> {
  const opening = openIntent(ctx, 'oauthLink', stored)
  return (await unlessRefused('oauthLink', opening, true)) !== null
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

export type CodeIntent = SpentIntent<'appCode'>

/** The session that a code came to, and whose it is. */
interface OpenedSession {
  readonly sessionId: string
  readonly user: { readonly id: string }
}

/** RFC 6749 §4.1.2 asks for a short life; an app redeems a code at once. */
const codeLifeMs = 60 * 1000
/** Beyond the end of a login ticket that a code became, so that neither outlives what ends it. */
const codeKeptMs = 10 * 60 * 1000
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
  const guard = { kind: 'appCode', boundTo: codeChallenge, attempts: codeUses.redeemed }
  const set = { attempts: codeUses.replayed }
  const marked = await ctx.collections.challenges.update(id, guard, set)
  const found = marked ?? (await ctx.collections.challenges.get(id))
  const code = intentOf(ctx, 'appCode', found)
  if (code?.boundTo !== codeChallenge || code.sessionId === null) return
  await endSession(ctx, { id: code.sessionId, userId: code.userId }, 'replay', source)
}

/** The code, for the redirect to the app. Not stored. */
export async function issueOauthCode(
  ctx: SurfaceContext,
  {
    user,
    codeChallenge,
    ...who
  }: {
    readonly user: User
    readonly codeChallenge: string
    /** The provider and the identity that signed in. */
    readonly method: string
    readonly identityId: string
  },
): Promise<string> {
  const code = randomToken(ctx.random)
  const payload = { ...who, goodUntil: ctx.clock.now() + codeLifeMs }
  await issueIntent(ctx, 'appCode', code, {
    user,
    boundTo: codeChallenge,
    payload,
    lifeMs: codeKeptMs,
  })
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
  const guard = { kind: 'appCode', boundTo: codeChallenge, attempts: 0 }
  const set = { attempts: codeUses.redeemed }
  const redeemed = intentOf(ctx, 'appCode', await ctx.collections.challenges.update(id, guard, set))
  if (redeemed === null) {
    await endFirst(ctx, id, codeChallenge, source)
    throw new AuthError('invalid_token')
  }
  // A second use that comes meanwhile is seen when the session is noted, and ends it.
  return spendIntent(await openIntent(ctx, 'appCode', redeemed))
}

function signUpPlace(ctx: SurfaceContext, codeChallenge: string) {
  return placeOf(ctx, `sign-up ${codeChallenge}`)
}

/**
 * The code of an app whose sign-up waits for a mailed link. It carries the key of the registration, encrypted for the
 * app's verifier, and opens no session, so that nothing has to be ended where it comes again.
 */
export function signUpCode(ctx: SurfaceContext, key: string, codeChallenge: string): string {
  return ctx.secretBox.seal(key, signUpPlace(ctx, codeChallenge))
}

/** What such a code was given for; null for any other code and verifier. */
export async function redeemSignUpCode(
  ctx: SurfaceContext,
  code: string,
  codeVerifier: string,
  shown: string | null,
): Promise<KeptRegistration | null> {
  if (!verifierForm.test(codeVerifier)) return null
  const key = ctx.secretBox.open(code, signUpPlace(ctx, sha256(codeVerifier)))
  return key === null ? null : fetchRegistration(ctx, key, shown, codeLifeMs)
}

/**
 * Notes the session that an app's code or a browser's flow led to, before the caller gets it. False if the code was
 * shown again meanwhile, or if the store has lost its document: then the session is ended.
 */
export async function bindOauthCode(
  ctx: SurfaceContext,
  codeId: string | null,
  { sessionId, user }: OpenedSession,
  source: RequestSource,
): Promise<boolean> {
  if (codeId === null) return true
  const guard = { attempts: codeUses.redeemed }
  const kept = await ctx.collections.challenges.update(codeId, guard, { sessionId })
  if (kept !== null) return true
  await endSession(ctx, { id: sessionId, userId: user.id }, 'replay', source)
  return false
}
