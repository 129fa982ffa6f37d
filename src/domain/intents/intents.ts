import { sha256 } from '../../crypto/secrets.js'
import { codeMethod } from '../../engine/accounts.js'
import { hasFactor } from '../../engine/factors.js'
import {
  type IntentCondition,
  type IntentEpochs,
  type IntentFacts,
  type IntentKind,
  type IntentState,
  judgeIntent,
  rulesOf,
} from '../../engine/intents.js'
import { capReached } from '../../engine/refresh-rules.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import {
  type Challenge,
  type Intent,
  type Intents,
  intentOfForm,
  type StoredIntent,
  type StoredKind,
} from '../../model/intents.js'
import { isBeingLinked, type User } from '../../model/user.js'
import type { AuthSettings } from '../../settings/settings.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import { entryInForce, sessionDenylistId } from '../context/open-collections.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { isIssuerAdmitted, isProviderOffered } from '../surface/ways-in.js'

// Everything that begins in one request and ends in another, see the table in `engine/intents.ts`. What is spent after
// its effect is kept in `intents`; what is spent before it, in `challenges`, may be lost.

/** What an intent is issued with, beside its secret. */
export interface IntentTerms<K extends StoredKind> {
  /** The account with its current epochs. Null for an intent without an account. */
  readonly user: (Pick<User, 'id'> & IntentEpochs) | null
  readonly boundTo: Intents[K]['boundTo']
  readonly payload: Intents[K]['payload']
  readonly lifeMs: number
}

/** A racing `issueIntent` may win the insert or the replacement in between; each try sees the newest. */
const putTries = 5

async function put(ctx: SurfaceContext, intent: Intent): Promise<void> {
  const { id, ...fields } = intent
  await retryOnConflict(putTries, async () => {
    const older = await ctx.collections.intents.get(id)
    if (older === null) return (await ctx.collections.intents.insert(intent)) || conflict
    return (
      (await ctx.collections.intents.update(id, { secretHash: older.secretHash }, fields)) ??
      conflict
    )
  })
}

/** A link replaces any earlier one of its account and kind. Resolves with when it expires. */
export async function issueIntent<K extends StoredKind>(
  ctx: SurfaceContext,
  kind: K,
  secret: string,
  { user, boundTo, payload, lifeMs }: IntentTerms<K>,
): Promise<number> {
  const secretHash = sha256(secret)
  const expiresAt = ctx.clock.now() + lifeMs
  const { id: userId, sessionEpoch, credentialEpoch, deviceEpoch } = user ?? nobody
  const epochs = { sessionEpoch, credentialEpoch, deviceEpoch }
  const intent = { kind, userId, boundTo, ...epochs, attempts: 0, payload, expiresAt }
  if (rulesOf(kind).spent === 'last') {
    await put(ctx, { id: `${kind}:${userId}`, secretHash, ...intent })
    return expiresAt
  }
  const challenge = { id: secretHash, sessionId: null, ...intent }
  const isStored = await ctx.collections.challenges.insert(challenge)
  // This alone has a secret that the caller did not draw: the same request at the same time notes the same.
  if (isStored || kind === 'confirmedLink') return expiresAt
  throw new AuthError('service_unavailable')
}

const nobody = { id: null, sessionEpoch: null, credentialEpoch: null, deviceEpoch: null }

/**
 * `null` if there is no document or it is of another kind: a secret opens only what it was issued for. Throws
 * `service_unavailable` for a document that does not have the form of its kind.
 */
export function intentOf<K extends StoredKind>(
  ctx: SurfaceContext,
  kind: K,
  stored: StoredIntent | null,
): Intents[K] | null {
  if (stored === null || stored.kind !== kind) return null
  const intent = intentOfForm(kind, stored)
  if (intent !== null) return intent
  ctx.logger.error('the store failed: an intent does not have the form of its kind', { kind })
  throw new AuthError('service_unavailable')
}

/** Racing guesses move the count; each loses to another at most `mfaMaxAttempts` (10) times. */
const moveTries = 24

/** Moves the count by guarded writes; null when `next` has nothing to write. */
function move(
  ctx: SurfaceContext,
  id: string,
  next: (attempts: number) => number | null,
): Promise<Challenge | null> {
  const attempt = async () => {
    const seen = await ctx.collections.challenges.get(id)
    if (seen === null) return null
    const attempts = next(seen.attempts)
    if (attempts === null) return null
    const guard = { attempts: seen.attempts }
    return (await ctx.collections.challenges.update(id, guard, { attempts })) ?? conflict
  }
  return retryOnConflict(moveTries, attempt, () => null)
}

/** Counts a try before it is looked at, so that parallel ones cannot share one. Null once there were `most`. */
export function attemptIntent(
  ctx: SurfaceContext,
  id: string,
  most: number,
): Promise<Challenge | null> {
  return move(ctx, id, (attempts) => (attempts < most ? attempts + 1 : null))
}

/** Hands back a try that could not be looked at. */
export function forgiveAttempt(ctx: SurfaceContext, id: string): Promise<unknown> {
  return move(ctx, id, (attempts) => (attempts > 0 ? attempts - 1 : null))
}

// Whether an intent may still have its effect. The judge reads what the kind of the intent hangs on, afresh each time,
// and asks the pure table. All throw the kind's refusal, and `service_unavailable`.

/** An ending that died before it wrote the row has the session on the denylist alone. */
async function isListed(ctx: SurfaceContext, sessionId: string): Promise<boolean> {
  const id = sessionDenylistId(ctx.surface, sessionId)
  return entryInForce(await ctx.denylist.find([id]), [id], ctx.clock.now()) !== null
}

async function refusalOfSession(
  ctx: SurfaceContext,
  user: User | null,
  sessionId: string,
  { sessionAbsoluteTTL }: AuthSettings,
): Promise<AuthError | null> {
  const [family, isEnding] = await Promise.all([
    ctx.collections.families.get(sessionId),
    isListed(ctx, sessionId),
  ])
  const revoked = new AuthError('session_revoked')
  if (isEnding) return revoked
  if (user === null || family?.userId !== user.id || family.revokedAt !== null) return revoked
  const isSpared = user.keptSessionId === family.id
  if (family.sessionEpoch !== user.sessionEpoch && !isSpared) return revoked
  const now = ctx.clock.now()
  if (family.expiresAt <= now) return revoked
  const isTooOld = capReached(family.loginAt, sessionAbsoluteTTL, now)
  return isTooOld ? new AuthError('session_max_age_reached') : null
}

/** Methods of a login that are no provider's; none of an intent without a login. */
const firstFactors: readonly string[] = ['password', 'webauthn', codeMethod, '']

/** True of a login that came by no provider. */
async function isIdentityGood(
  ctx: SurfaceContext,
  { userId, method = '', identityId = null, oauthCodeId = null }: JudgedFacts,
  settings: AuthSettings,
): Promise<boolean> {
  if (firstFactors.includes(method)) return true
  const [identity, code] = await Promise.all([
    identityId === null ? null : ctx.collections.oauthIdentities.get(identityId),
    oauthCodeId === null ? null : ctx.collections.challenges.get(oauthCodeId),
  ])
  // A browser's flow is used once, and never again.
  const isCodeGood = oauthCodeId === null || (code !== null && code.attempts < codeUses.replayed)
  if (identity === null || isBeingLinked(identity)) return false
  // One of a tenant that was shut out meanwhile could not begin this login now.
  return identity.userId === userId && isCodeGood && isIssuerAdmitted(ctx, identity, settings)
}

async function hasNoOtherFactor(
  ctx: SurfaceContext,
  user: User | null,
  { enrollmentId }: JudgedFacts,
): Promise<boolean> {
  if (user === null) return false
  if (enrollmentId !== undefined && user.settledEnrollmentId === enrollmentId) return true
  return !hasFactor(await enrolledFactors(ctx.collections, user.id))
}

function switches(
  ctx: SurfaceContext,
  { provider, method }: JudgedFacts,
  settings: AuthSettings,
): IntentState['isOn'] {
  const password = settingsFor(ctx.surface, settings).passwordLoginEnabled
  const isOn = (way = '') => {
    if (way === 'password') return password
    if (way === codeMethod) return ctx.offers.has('mailedCode')
    return firstFactors.includes(way) || isProviderOffered(ctx, way, settings)
  }
  return {
    password,
    provider: isOn(provider),
    loginMethod: isOn(method),
    totp: settings.totpEnabled,
    passkeys: settings.webauthnMode !== 'off',
    passwordless: settings.webauthnMode === 'passwordless',
  }
}

async function stateOf(
  ctx: SurfaceContext,
  hangsOn: readonly IntentCondition[],
  facts: JudgedFacts,
  account: User | null | undefined,
): Promise<IntentState> {
  const settings = await ctx.settings()
  const asksSession = hangsOn.includes('session')
  const asksIdentity = hangsOn.includes('identity')
  const [refusal, isLinked, lacksFactor] = await Promise.all([
    asksSession ? refusalOfSession(ctx, account ?? null, facts.sessionId ?? '', settings) : null,
    asksIdentity && isIdentityGood(ctx, facts, settings),
    hangsOn.includes('lacksFactor') && hasNoOtherFactor(ctx, account ?? null, facts),
  ])
  return {
    ...(account === undefined ? {} : { account }),
    isSessionOpen: asksSession && refusal === null,
    isIdentityGood: isLinked,
    lacksFactor,
    isOn: switches(ctx, facts, settings),
  }
}

/** Throws unless the intent may have its effect, or its effect is written. */
async function verdictOf(
  ctx: SurfaceContext,
  kind: IntentKind,
  facts: JudgedFacts,
  account: User | null | undefined,
): Promise<'good' | 'interrupted'> {
  const rules = rulesOf(kind)
  const state = await stateOf(ctx, rules.hangsOn, facts, account)
  const verdict = judgeIntent(rules, facts, state, ctx.clock.now())
  if (verdict === 'expired') throw new AuthError(rules.expired)
  if (verdict === 'switchedOff') throw new AuthError(rules.switchedOff)
  if (verdict === 'void') throw new AuthError(rules.refusal)
  return verdict
}

/** `seen` is the account where the caller read it for this request. */
export async function openIntent<K extends IntentKind>(
  ctx: SurfaceContext,
  kind: K,
  stored: Intents[K],
  { seen, enrollmentId }: { readonly seen?: User; readonly enrollmentId?: string } = {},
): Promise<OpenedIntent<K>> {
  const { userId } = stored
  const user = seen ?? (userId === null ? null : await ctx.collections.users.get(userId))
  const facts = {
    ...factsOf(kind, stored),
    ...(enrollmentId === undefined ? {} : { enrollmentId }),
  }
  const verdict = await verdictOf(ctx, kind, facts, user)
  if (user === null) throw new AuthError(rulesOf(kind).refusal)
  return { kind, user, isWritten: verdict === 'interrupted', [hidden]: stored }
}

/** The same for an intent that names no account. */
export async function openAnonymousIntent<K extends IntentKind>(
  ctx: SurfaceContext,
  kind: K,
  stored: Intents[K],
): Promise<OpenedIntent<K, null>> {
  await verdictOf(ctx, kind, factsOf(kind, stored), undefined)
  return { kind, user: null, isWritten: false, [hidden]: stored }
}

/**
 * Null for what is wrong with the intent, and `evenOff` for a method that is switched off: callers who say the same of
 * whatever is wrong ask by this.
 */
export async function unlessRefused<T>(
  kind: IntentKind,
  opening: Promise<T>,
  evenOff = false,
): Promise<T | null> {
  try {
    return await opening
  } catch (error) {
    const { refusal, expired, switchedOff } = rulesOf(kind)
    const codes = [refusal, expired, ...(evenOff ? [switchedOff] : [])]
    if (error instanceof AuthError && codes.includes(error.code)) return null
    throw error
  }
}

/**
 * What an effect asks for. One that is spent first was taken before it was opened, or is taken by the caller now; one
 * that is spent last is taken once the effect is written.
 */
export function spendIntent<K extends IntentKind, U extends User | null>(
  opened: OpenedIntent<K, U>,
): SpentIntent<K, U> {
  const { kind, user, isWritten, [hidden]: stored } = opened
  return { [spent]: true, kind, user, isWritten, id: idOf(stored), stored }
}

/**
 * What a request of a session that is over is refused with: `session_revoked`, or `session_max_age_reached` beyond the
 * cap. Null while it goes on. It knows of an ending that has yet to reach this session.
 */
export async function sessionRefusal(
  ctx: SurfaceContext,
  user: User,
  sessionId: string,
): Promise<AuthError | null> {
  return refusalOfSession(ctx, user, sessionId, await ctx.settings())
}

/**
 * Judges once more: between opening and spending, the account may have changed. `enrollmentId` is the
 * enrolment by which this login added a factor itself.
 */
export function judgeIntentAgain<K extends IntentKind>(
  ctx: SurfaceContext,
  opened: OpenedIntent<K>,
  enrollmentId: string | null = null,
): Promise<OpenedIntent<K>> {
  return openIntent(ctx, opened.kind, opened[hidden], enrollmentId === null ? {} : { enrollmentId })
}

const hidden = Symbol('hidden')
const spent = Symbol('spent')

interface Judged<K extends IntentKind, U extends User | null> {
  readonly kind: K
  /** The account as it was judged; null for an intent that names none. */
  readonly user: U
  /** True if an earlier request wrote the effect, and the rest of it is to be done. */
  readonly isWritten: boolean
}

/** An intent that was judged. What it carries is hidden until it is spent. */
export interface OpenedIntent<K extends IntentKind, U extends User | null = User>
  extends Judged<K, U> {
  readonly [hidden]: Intents[K]
}

/**
 * An intent that may have its effect. The judge alone makes one, and every effect asks for one, so that
 * no right can be used without asking whether its conditions still hold.
 */
export interface SpentIntent<K extends IntentKind, U extends User | null = User>
  extends Judged<K, U> {
  readonly [spent]: true
  /** Goes into `lastIntentId` of the user with the effect. */
  readonly id: string
  readonly stored: Intents[K]
}

/** How often an app's code was shown with its verifier, as its `attempts` say. */
export const codeUses = { redeemed: 1, replayed: 2 } as const

/** What the judge reads of the payload, as it is called in each kind that has it. */
interface JudgedPayload {
  /** How the first factor of its login was shown: `password`, or the id of a provider. */
  readonly method?: string
  /** The account at a provider that signed in; null for a login that began otherwise. */
  readonly identityId?: string | null
  /** The app's code or the browser's flow that began the login; null if neither did. */
  readonly oauthCodeId?: string | null
  /** The provider that it leads to. */
  readonly provider?: string
  /** The session it began in. */
  readonly sessionId?: string
  /** When it expires, where the document is kept for longer. */
  readonly goodUntil?: number
}

/** What the judge has to read about an intent. */
interface JudgedFacts extends IntentFacts, JudgedPayload {
  /** The account it is about; null where it names none. */
  readonly userId: string | null
  /** The enrolment by which this login added a factor itself. */
  readonly enrollmentId?: string
}

function idOf({ id, secretHash = id }: { readonly id: string; readonly secretHash?: string }) {
  return secretHash
}

function factsOf<K extends IntentKind>(kind: K, stored: Intents[K]): JudgedFacts {
  const { userId, sessionEpoch, credentialEpoch, deviceEpoch, expiresAt } = stored
  const payload: object = stored.payload
  const judged: JudgedPayload = payload
  return {
    ...judged,
    ...{ id: idOf(stored), userId, sessionEpoch, credentialEpoch, deviceEpoch },
    email: rulesOf(kind).boundTo === 'mailbox' ? stored.boundTo : null,
    expiresAt: judged.goodUntil ?? expiresAt,
  }
}
