import { isListedTarget, withFragment, withQuery } from '../../engine/addresses.js'
import { AuthError, describeError, type ErrorCode, WaysideError } from '../../errors/index.js'
import type { Provider, ProviderCredentials } from '../../identity-providers/provider.js'
import { ProviderError } from '../../identity-providers/provider-error.js'
import { oauthFailures } from '../../model/intents.js'
import { isHuman } from '../../model/user.js'
import type { OauthFailure } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/actor.js'
import { type SpentIntent, sessionRefusal } from '../intents/intents.js'
import { isLoginWaiting } from '../intents/login-intents.js'
import {
  type AppFacts,
  type BegunFlow,
  type BrowserKey,
  type BrowserKeys,
  beginAppFlow,
  beginBrowserFlow,
  type FlowAnswer,
  type FlowFacts,
  type FlowKind,
  findOauthFlow,
  flowCookieSeconds,
  flowNameOf,
  flowSeconds,
  issueOauthCode,
  type KnownFlow,
  type Linker,
  type ResponseMode,
  redeemOauthCode,
  redeemSignUpCode,
  type SignInIntent,
  signUpCode,
  type TakenFlow,
  type WayBack,
} from '../intents/oauth-flows.js'
import { type FirstFactor, type LoginResult, proceedLogin } from '../login/login-pipeline.js'
import type { RecognitionGrant, ShownRecognition } from '../login/login-risk.js'
import { keepForLink, type WaitingForLink } from '../mail/registration-mails.js'
import { type RefreshGrant, verifyRefresh } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { credentialsFor, isProviderOffered } from '../surface/ways-in.js'
import { accountOfProvider, type Found, type SignUpByLink } from './oauth-accounts.js'
import { completeLink, prepareLink } from './oauth-links.js'

// Signing in at an identity provider (OAuth 2.1, RFC 8252).

/** A browser's flow: where to, what to keep meanwhile, and what to forget of flows long before. */
export interface BrowserFlow extends BegunFlow {
  readonly cookies: readonly FlowCookie[]
}

/** What a browser brings back from a provider; null without. */
export interface ReturningBrowser {
  readonly keys: BrowserKeys
  readonly deviceToken: string | null
  /** The refresh tokens of its cookies. */
  readonly sessions: readonly string[]
  /** For a mail about a sign-up. */
  readonly languages: readonly string[]
}

/** What came back of a flow, and what its device is known by. */
interface Arrived extends Pick<ReturningBrowser, 'deviceToken' | 'languages'> {
  readonly parameters: Readonly<Record<string, string>>
}

/** What a flow came to; `login` or `registration` of a browser's own, null of the others. */
interface Settled {
  readonly members: Record<string, string>
  readonly login: LoginResult | null
  readonly registration: WaitingForLink | null
}

/** Of flows that do not sign a browser in. */
const noBrowser = { recognitionId: null, registrationKey: null } as const

async function requireListed(ctx: SurfaceContext, uri: string, kind: FlowKind): Promise<void> {
  const { oauthRedirectTargets } = await ctx.settings()
  const flow = kind === 'oauthApp' ? 'mobile' : 'web'
  if (!isListedTarget(oauthRedirectTargets, { uri, surface: ctx.surface, flow })) {
    throw new AuthError('redirect_not_allowed')
  }
}

/** Read again at every step: administrators switch providers off while people are on their way. */
async function credentialsOf(ctx: SurfaceContext, provider: string): Promise<ProviderCredentials> {
  return credentialsFor(ctx, provider, await ctx.settings())
}

async function startInBrowser(
  ctx: SurfaceContext,
  provider: Named,
  facts: Omit<FlowFacts, 'provider'>,
  linker: Linker,
  keys: BrowserKeys,
): Promise<BrowserFlow> {
  const credentials = await credentialsOf(ctx, provider.id)
  await requireListed(ctx, facts.redirectUri, linker === null ? 'oauthWeb' : 'oauthLink')
  const mode = provider.responseMode
  const all = { ...facts, provider: provider.id }
  const { flow, key, ...begun } = await beginBrowserFlow(ctx, all, linker, credentials)
  const cookie = { mode, flow, key, expiresIn: flowCookieSeconds }
  return { ...begun, cookies: [...surplusOf(keys), cookie] }
}

/** For an app: the session is opened when it shows its verifier, and no token is in an address. */
async function issueCode(
  ctx: SurfaceContext,
  { stored }: SpentIntent<'oauthApp', null>,
  { user, identityId }: Found,
): Promise<string> {
  if (!user.enabled || !isHuman(user)) throw new AuthError('invalid_credentials')
  const { provider: method, codeChallenge } = stored.payload
  return issueOauthCode(ctx, { user, codeChallenge, method, identityId })
}

async function logInBrowser(
  ctx: SurfaceContext,
  { id, stored }: SpentIntent<'oauthWeb', null>,
  { user, identityId }: Found,
  {
    remember,
    ...device
  }: Pick<TakenFlow, 'remember'> & Pick<FirstFactor, 'deviceToken' | 'recognition'>,
  source: RequestSource,
): Promise<Settled> {
  const { provider: method } = stored.payload
  const federated = { identityId, browserHash: stored.boundTo, oauthCodeId: id }
  const first = { user, method, amr: [], factors: null, second: null, ...device }
  const login = await proceedLogin(ctx, { ...first, federated, delivery: 'cookie' }, source)
  const members = membersOf(login)
  if (login.status !== 'authenticated') await keepAnswer(ctx, remember, members)
  return { members, login, registration: null }
}

/** The login goes on; without the note, a person who comes again is led to the page with an error. */
async function keepAnswer(
  ctx: SurfaceContext,
  remember: TakenFlow['remember'],
  members: FlowAnswer,
): Promise<void> {
  try {
    await remember(members)
  } catch (error) {
    ctx.logger.warn('a flow did not note its ticket', describeError(error))
  }
}

/** For a browser, what it is to keep; for an app, the code by which it fetches that. */
async function waitForLink(
  ctx: SurfaceContext,
  intent: SignInIntent,
  { registered }: SignUpByLink,
  kept: Pick<TakenFlow, 'registrationKey'> & Pick<Arrived, 'languages'>,
  source: RequestSource,
): Promise<Settled> {
  const registration = await keepForLink(ctx, registered, kept, source)
  const { status, registrationKey } = registration
  if (intent.kind === 'oauthWeb') return { members: { status }, login: null, registration }
  const code = signUpCode(ctx, registrationKey, intent.stored.payload.codeChallenge)
  return { members: { status, code }, ...nothingOpened }
}

async function settle(
  ctx: SurfaceContext,
  provider: string,
  taken: TakenFlow,
  { parameters, deviceToken, languages }: Arrived,
  source: RequestSource,
): Promise<Settled> {
  const { secrets, redirectUri, remember, registrationKey } = taken
  const intent = await taken.intent()
  const credentials = await credentialsOf(ctx, provider)
  const answer = { parameters, secrets, redirectUri }
  const profile = await ctx.providers.whoSignedIn(provider, credentials, answer)
  if (intent.kind === 'oauthLink') {
    await completeLink(ctx, intent, profile, source)
    return { members: { status: 'linked' }, ...nothingOpened }
  }
  const found = await accountOfProvider(ctx, { profile, intent }, source)
  if ('registered' in found) {
    return waitForLink(ctx, intent, found, { registrationKey, languages }, source)
  }
  if (intent.kind === 'oauthApp') {
    return { members: { code: await issueCode(ctx, intent, found) }, ...nothingOpened }
  }
  const recognition = { cookie: taken.recognitionId, body: null }
  return logInBrowser(ctx, intent, found, { remember, deviceToken, recognition }, source)
}

function emitFailure(
  ctx: SurfaceContext,
  error: unknown,
  { provider, kind }: WayBack,
  source: RequestSource,
): void {
  if (error instanceof ProviderError && !error.isDenial) {
    const why = { provider, reason: error.message, ...describeError(error) }
    ctx.logger.warn('a provider did not say who signed in', why)
  }
  const reason = oauthFailureOf(error)
  // The pipeline emitted this one itself.
  if (reason === null || reason === 'email_not_verified' || kind === 'oauthLink') return
  ctx.emit('login.failed', source, { userId: null, method: provider, reason })
}

export async function offeredProviders(
  ctx: SurfaceContext,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const settings = await ctx.settings()
  const ids = ctx.providers.ids.filter((id) => isProviderOffered(ctx, id, settings))
  return ids.map((id) => ({ id, name: known(ctx, id).name }))
}

/** Throws `not_found`, `oauth_provider_disabled` and `redirect_not_allowed`. */
export async function startWebSignIn(
  ctx: SurfaceContext,
  provider: string,
  target: Pick<FlowFacts, 'redirectUri' | 'termsVersion'>,
  {
    keys,
    ...browser
  }: Omit<FlowFacts, 'provider' | 'redirectUri' | 'termsVersion'> & { readonly keys: BrowserKeys },
): Promise<BrowserFlow> {
  return startInBrowser(ctx, known(ctx, provider), { ...browser, ...target }, null, keys)
}

/** As `startWebSignIn`; `codeChallenge` is the app's own (S256), for the exchange. */
export async function startMobileSignIn(
  ctx: SurfaceContext,
  provider: string,
  {
    codeChallenge,
    appState,
    ...target
  }: AppFacts & Pick<FlowFacts, 'redirectUri' | 'termsVersion'>,
): Promise<BegunFlow> {
  const { id } = known(ctx, provider)
  const credentials = await credentialsOf(ctx, id)
  await requireListed(ctx, target.redirectUri, 'oauthApp')
  const facts = { provider: id, ...noBrowser, ...target }
  return beginAppFlow(ctx, facts, { codeChallenge, appState }, credentials)
}

/** As `startWebSignIn`, and what `prepareLink` throws. */
export async function startLink(
  ctx: SurfaceContext,
  who: SignedIn,
  provider: string,
  {
    redirectUri,
    currentPassword,
    keys,
  }: {
    readonly redirectUri: string
    readonly currentPassword: string | undefined
    readonly keys: BrowserKeys
  },
  source: RequestSource,
): Promise<BrowserFlow> {
  const named = known(ctx, provider)
  await credentialsOf(ctx, named.id)
  await requireListed(ctx, redirectUri, 'oauthLink')
  await prepareLink(ctx, who, named.id, currentPassword, source)
  const facts = { redirectUri, termsVersion: null, ...noBrowser }
  return startInBrowser(ctx, named, facts, who, keys)
}

/**
 * The way back. What goes wrong is passed to the host's page, but for `invalid_oauth_state`,
 * `redirect_not_allowed`, `not_found` and outages, which are thrown: as the cause of a `WaysideError` where it is
 * known where the person goes on.
 */
export async function finishSignIn(
  ctx: SurfaceContext,
  provider: string,
  {
    mode,
    parameters,
  }: { readonly mode: ResponseMode; readonly parameters: Readonly<Record<string, string>> },
  { keys, sessions, ...browser }: ReturningBrowser,
  source: RequestSource,
): Promise<Returned> {
  const { id, responseMode } = known(ctx, provider)
  if (responseMode !== mode) throw new AuthError('not_found')
  const state = parameters['state'] ?? ''
  const name = flowNameOf(state)
  const own = keys.find((key) => key.mode === mode && key.flow === name)
  const flow = await findOauthFlow(ctx, id, state, own?.key ?? null)
  const { back } = flow
  // First, because every other failure is passed to this address.
  await requireListed(ctx, back.redirectUri, back.kind)
  const echoed = back.appState === null ? {} : { state: back.appState }
  try {
    const taken = await flow.take()
    if (taken === null) return await goOn(ctx, flow, sessions)
    const settled = await settle(ctx, id, taken, { parameters, ...browser }, source)
    const { members } = settled
    // A ticket goes to the page alone, past the logs of its server.
    const located = 'ticket' in members ? withFragment : withQuery
    return returned(located(back.redirectUri, { ...members, ...echoed }), settled, own)
  } catch (error) {
    emitFailure(ctx, error, back, source)
    const reason = oauthFailureOf(error)
    const { code = 'internal_error', reason: why } = error instanceof AuthError ? error : {}
    const told = { error: reason ?? code, ...(why ? { reason: why } : {}) }
    const location = withQuery(back.redirectUri, { ...told, ...echoed })
    if (reason === null) throw new WaysideError(location, error)
    return { ...returned(location, nothingOpened, own), failed: true }
  }
}

/** Of a flow that came back before, or too late. The provider is not asked again, and nothing is opened. */
async function goOn(
  ctx: SurfaceContext,
  { back, sessionId, answer }: KnownFlow,
  shown: readonly string[],
): Promise<Returned> {
  if (sessionId !== null && (await isPresented(ctx, sessionId, shown))) {
    const location = withQuery(back.redirectUri, { status: 'authenticated' })
    return returned(location, nothingOpened, undefined)
  }
  // The request carries the browser's key. The ticket is useless without it.
  const isWaiting = answer !== null && (await isLoginWaiting(ctx, answer['ticket'] ?? ''))
  if (!isWaiting) throw new AuthError('invalid_oauth_state')
  return returned(withFragment(back.redirectUri, answer), nothingOpened, undefined)
}

/** Whether one of these refresh tokens is of this session, and it goes on. */
async function isPresented(
  ctx: SurfaceContext,
  sessionId: string,
  shown: readonly string[],
): Promise<boolean> {
  for (const token of shown.slice(0, mostSessions)) {
    const verified = await verifyRefresh(ctx, token)
    if (!verified.ok || verified.claims.sid !== sessionId) continue
    const user = await ctx.collections.users.get(verified.claims.sub)
    return user !== null && (await sessionRefusal(ctx, user, sessionId)) === null
  }
  return false
}

/** Cookies of one name that are looked at: a page of a neighbouring host may have planted more. */
const mostSessions = 4

/** Throws `invalid_token`, `oauth_provider_disabled` and what a login throws. `registrationKey` is what the app kept. */
export async function exchangeOauthCode(
  ctx: SurfaceContext,
  {
    code,
    codeVerifier,
    registrationKey: shown,
    ...device
  }: {
    readonly code: string
    readonly codeVerifier: string
    readonly registrationKey: string | null
    readonly deviceToken: string | null
    readonly recognition: ShownRecognition
  },
  source: RequestSource,
): Promise<WaitingForLink | LoginResult> {
  const kept = await redeemSignUpCode(ctx, code, codeVerifier, shown)
  if (kept !== null) {
    const { registration, registrationKey } = kept
    const expiresIn = Math.floor((registration.expiresAt - ctx.clock.now()) / 1000)
    return { status: 'verificationRequired', registrationKey, expiresIn }
  }
  const { user, id: oauthCodeId, stored } = await redeemOauthCode(ctx, code, codeVerifier, source)
  const { method, identityId } = stored.payload
  const first = { user, method, amr: [], factors: null, second: null, ...device }
  const federated = { identityId, browserHash: null, oauthCodeId }
  return proceedLogin(ctx, { ...first, federated, delivery: 'body' }, source)
}

type Named = Pick<Provider, 'name' | 'responseMode'> & { readonly id: string }

/** Throws `not_found` for anything that names no provider. */
function known({ providers }: SurfaceContext, id: string): Named {
  const found = providers.find(id)
  if (found === null) throw new AuthError('not_found')
  return { id, name: found.name, responseMode: found.responseMode }
}

/** What a browser is to keep of a flow, for so many whole seconds; 0 takes it away. */
export interface FlowCookie extends BrowserKey {
  readonly expiresIn: number
}

/** How a browser comes back to the host's page. */
export interface Returned {
  /** Where the browser goes on. */
  readonly location: string
  /** Whether that is told of a failure. */
  readonly failed: boolean
  /** The refresh token of a session that was opened; null where none was, or an app fetches it. */
  readonly refresh: RefreshGrant | null
  /** For a login that waits for its second factor: what its ticket is good with. Null otherwise. */
  readonly cookie: FlowCookie | null
  /** What the browser is to be known by; null without a session. */
  readonly recognition: RecognitionGrant | null
  /** What the browser is to keep of its registrations; null unless it signed up. */
  readonly registration: WaitingForLink | null
}

const nothingOpened = { login: null, registration: null }

/** What the host's page learns of a login; nothing of one that is complete. */
function membersOf(result: LoginResult): Record<string, string> {
  switch (result.status) {
    case 'authenticated':
      return {}
    case 'mfaRequired': {
      const { status, mfaToken: ticket, methods } = result
      return { status, ticket, methods: methods.join(',') }
    }
    case 'mfaEnrollmentRequired':
      return { status: result.status, ticket: result.mfaToken }
    case 'passwordChangeRequired':
      throw new Error('no password was asked for')
  }
}

/** `own` is undefined for an app. */
function returned(
  location: string,
  { login, registration }: Pick<Settled, 'login' | 'registration'>,
  own: BrowserKey | undefined,
): Returned {
  const isIn = login?.status === 'authenticated'
  return {
    location,
    failed: false,
    refresh: isIn ? login.session.refresh : null,
    cookie: cookieOf(login, own),
    recognition: isIn ? login.recognition : null,
    registration,
  }
}

/**
 * Kept on for as long as the ticket lives. It is not taken away with the flow or with the ticket: by
 * itself it opens nothing.
 */
function cookieOf(login: LoginResult | null, own: BrowserKey | undefined): FlowCookie | null {
  const isWaiting = login !== null && login.status !== 'authenticated'
  return isWaiting && own !== undefined ? { ...own, expiresIn: flowSeconds } : null
}

/**
 * Flows of one browser that may be on their way at once. Another site can begin any number of them,
 * and with too many cookies the browser's requests would be refused for their size.
 */
const mostFlows = 8

/** The oldest of them, which are to make room for one more. */
function surplusOf(keys: BrowserKeys): readonly FlowCookie[] {
  const surplus = keys.slice(0, Math.max(0, keys.length - (mostFlows - 1)))
  return surplus.map((key) => ({ ...key, key: '', expiresIn: 0 }))
}

/** The `?error=` of a flow that came to nothing; null for what is no outcome of it: an outage. */
function oauthFailureOf(error: unknown): OauthFailure | null {
  if (error instanceof ProviderError) return error.isDenial ? 'oauth_denied' : 'oauth_failed'
  if (!(error instanceof AuthError)) return null
  // Nothing more is said of an account that may not sign in.
  const code: ErrorCode = error.code === 'invalid_credentials' ? 'oauth_failed' : error.code
  return oauthFailures.find((failure) => failure === code) ?? null
}
