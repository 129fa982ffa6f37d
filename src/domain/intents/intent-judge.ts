import { hasFactor } from '../../engine/factors.js'
import {
  type IntentCondition,
  type IntentFacts,
  type IntentKind,
  type IntentState,
  judgeIntent,
  type KindSpent,
  rulesOf,
} from '../../engine/intents.js'
import { capReached } from '../../engine/refresh-rules.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { providerId } from '../../identity-providers/providers.js'
import type { TotpFactor } from '../../model/factors.js'
import type {
  LoginTicket,
  OauthCode,
  OauthFlow,
  PasskeyChallenge,
  Ticket,
} from '../../model/intents.js'
import { isBeingLinked, type User } from '../../model/user.js'
import type { AuthSettings } from '../../settings/settings.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import { entryInForce, sessionDenylistId } from '../context/open-collections.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { isProviderOffered, isTenantAdmitted } from '../surface/ways-in.js'

// Decides whether an intent may still have its effect. It reads what the kind of the intent hangs on,
// afresh each time, and asks the pure table. All throw the kind's refusal, and `service_unavailable`.

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

/** True of a login that came by no provider. */
async function isIdentityGood(
  ctx: SurfaceContext,
  { userId, first }: JudgedFacts,
  settings: AuthSettings,
): Promise<boolean> {
  if (first === undefined || providerId(first.method) === null) return true
  const { identityId, oauthCodeId } = first
  const [identity, code] = await Promise.all([
    ctx.collections.oauthIdentities.get(identityId),
    oauthCodeId === '' ? null : ctx.collections.oauthCodes.get(oauthCodeId),
  ])
  const isCodeGood = oauthCodeId === '' || (code !== null && code.replayedAt === null)
  if (identity === null || isBeingLinked(identity)) return false
  // One of a tenant that was shut out meanwhile could not begin this login now.
  return identity.userId === userId && isCodeGood && isTenantAdmitted(identity, settings)
}

async function hasNoOtherFactor(
  ctx: SurfaceContext,
  user: User | null,
  { enrollmentId }: JudgedFacts,
): Promise<boolean> {
  if (user === null) return false
  if (enrollmentId !== undefined && user.lastIntentId === enrollmentId) return true
  return !hasFactor(await enrolledFactors(ctx.collections, user.id))
}

function switches(
  ctx: SurfaceContext,
  { provider, first }: JudgedFacts,
  settings: AuthSettings,
): IntentState['isOn'] {
  const password = settingsFor(ctx.surface, settings).passwordLoginEnabled
  const isOn = (method = '') => {
    const id = providerId(method)
    return id === null
      ? method !== 'password' || password
      : isProviderOffered(id, ctx.surface, settings)
  }
  return {
    password,
    provider: isOn(provider),
    loginMethod: isOn(first?.method),
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
  facts: JudgedFacts & { readonly userId: string },
  payload: IntentPayloads[K],
  seen?: User,
): Promise<OpenedIntent<K>> {
  const user = seen ?? (await ctx.collections.users.get(facts.userId))
  const verdict = await verdictOf(ctx, kind, facts, user)
  if (user === null) throw new AuthError(rulesOf(kind).refusal)
  return openedIntent({ kind, user, isWritten: verdict === 'interrupted' }, facts, payload)
}

/** The same for an intent that names no account. */
export async function openAnonymousIntent<K extends IntentKind>(
  ctx: SurfaceContext,
  kind: K,
  facts: JudgedFacts,
  payload: IntentPayloads[K],
): Promise<OpenedIntent<K, null>> {
  await verdictOf(ctx, kind, facts, undefined)
  return openedIntent({ kind, user: null, isWritten: false }, facts, payload)
}

/** What an effect asks for, of a kind that is spent first: the caller takes it before the effect. */
export function spendIntent<K extends KindSpent<'first'>, U extends User | null>(
  opened: OpenedIntent<K, U>,
): SpentIntent<K, U> {
  return spentIntent(opened)
}

/** The same of a kind that is spent last: it is taken once the effect is written. */
export function spendIntentLast<K extends KindSpent<'last'>, U extends User | null>(
  opened: OpenedIntent<K, U>,
): SpentIntent<K, U> {
  return spentIntent(opened)
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
export async function judgeIntentAgain<K extends IntentKind>(
  ctx: SurfaceContext,
  opened: OpenedIntent<K>,
  enrollmentId: string | null = null,
): Promise<OpenedIntent<K>> {
  const { facts, payload } = hiddenOf(opened)
  const { id: userId } = opened.user
  const more = enrollmentId === null ? {} : { enrollmentId }
  return openIntent(ctx, opened.kind, { ...facts, ...more, userId }, payload)
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
  readonly [hidden]: { readonly facts: JudgedFacts; readonly payload: IntentPayloads[K] }
}

/**
 * An intent that may have its effect. The judge alone makes one, and every effect asks for one, so that
 * no right can be used without asking whether its conditions still hold. An import rule keeps the
 * makers to the judge.
 */
export interface SpentIntent<K extends IntentKind, U extends User | null = User>
  extends Judged<K, U> {
  readonly [spent]: true
  /** Goes into `lastIntentId` of the user with the effect. */
  readonly id: string
  readonly payload: IntentPayloads[K]
}

function openedIntent<K extends IntentKind, U extends User | null>(
  judged: Judged<K, U>,
  facts: JudgedFacts,
  payload: IntentPayloads[K],
): OpenedIntent<K, U> {
  return { ...judged, [hidden]: { facts, payload } }
}

function hiddenOf<K extends IntentKind, U extends User | null>(opened: OpenedIntent<K, U>) {
  return opened[hidden]
}

function spentIntent<K extends IntentKind, U extends User | null>(
  opened: OpenedIntent<K, U>,
): SpentIntent<K, U> {
  const { kind, user, isWritten } = opened
  const { facts, payload } = opened[hidden]
  return { [spent]: true, kind, user, isWritten, id: facts.id, payload }
}

/** What each kind of intent carries to its effect. */
export interface IntentPayloads {
  readonly verifyEmail: Ticket
  readonly register: Ticket
  readonly changeEmail: Ticket
  readonly resetPassword: Ticket
  readonly expiredPassword: Ticket
  readonly secondFactor: LoginTicket
  readonly enrollment: LoginTicket
  readonly oauthWeb: OauthFlow
  readonly oauthApp: OauthFlow
  readonly oauthLink: OauthFlow
  readonly appCode: OauthCode
  readonly passkeyLogin: PasskeyChallenge
  readonly passkeySecondFactor: PasskeyChallenge
  readonly passkeyRegistration: PasskeyChallenge
  readonly passkeyStepUp: PasskeyChallenge
  readonly totpEnrollment: TotpFactor
}

/** What the judge has to read about an intent. */
export interface JudgedFacts extends IntentFacts {
  /** The account it is about; left out of one that names none. */
  readonly userId?: string
  /** The session it began in. */
  readonly sessionId?: string
  /** How the first factor of its login was shown. */
  readonly first?: {
    /** `password`, or the id of a provider. */
    readonly method: string
    /** The account at a provider that signed in; empty otherwise. */
    readonly identityId: string
    /** The code of the app that began it; empty without one. */
    readonly oauthCodeId: string
  }
  /** The enrolment by which this login added a factor itself. */
  readonly enrollmentId?: string
  /** The provider that it leads to. */
  readonly provider?: string
}
