import { hasFactor } from '../../engine/factors.js'
import {
  type IntentCondition,
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
import { isBeingLinked, type User } from '../../model/user.js'
import type { AuthSettings } from '../../settings/settings.js'
import { entryInForce, sessionDenylistId } from '../context/denylist-entries.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import { isProviderOffered, isTenantAdmitted } from '../context/provider-credentials.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentPayloads, JudgedFacts } from './intent-payloads.js'
import {
  hiddenOf,
  type OpenedIntent,
  openedIntent,
  type SpentIntent,
  spentIntent,
} from './spent-intent.js'

/**
 * Decides whether an intent may still have its effect. It reads what the kind of the intent hangs on,
 * afresh each time, and asks the pure table. All throw the kind's refusal, and `service_unavailable`.
 */
export interface IntentJudge {
  /** `seen` is the account where the caller read it for this request. */
  open<K extends IntentKind>(
    kind: K,
    facts: JudgedFacts & { readonly userId: string },
    payload: IntentPayloads[K],
    seen?: User,
  ): Promise<OpenedIntent<K>>
  /** The same for an intent that names no account. */
  openAnonymous<K extends IntentKind>(
    kind: K,
    facts: JudgedFacts,
    payload: IntentPayloads[K],
  ): Promise<OpenedIntent<K, null>>
  /** What an effect asks for, of a kind that is spent first: the caller takes it before the effect. */
  spend<K extends KindSpent<'first'>, U extends User | null>(
    opened: OpenedIntent<K, U>,
  ): SpentIntent<K, U>
  /** The same of a kind that is spent last: it is taken once the effect is written. */
  spendLast<K extends KindSpent<'last'>, U extends User | null>(
    opened: OpenedIntent<K, U>,
  ): SpentIntent<K, U>
  /**
   * What a request of a session that is over is refused with: `session_revoked`, or `session_max_age_reached` beyond the
   * cap. Null while it goes on. It knows of an ending that has yet to reach this session.
   */
  sessionRefusal(user: User, sessionId: string): Promise<AuthError | null>
  /**
   * Judges once more: between opening and spending, the account may have changed. `enrollmentId` is the
   * enrolment by which this login added a factor itself.
   */
  again<K extends IntentKind>(
    opened: OpenedIntent<K>,
    enrollmentId?: string | null,
  ): Promise<OpenedIntent<K>>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'denylist' | 'clock' | 'settings'>

export function createIntentJudge(deps: Deps): IntentJudge {
  const { surface, clock } = deps
  const { users, families, oauthIdentities, oauthCodes } = deps.collections

  /** An ending that died before it wrote the row has the session on the denylist alone. */
  async function isListed(sessionId: string): Promise<boolean> {
    const id = sessionDenylistId(surface, sessionId)
    return entryInForce(await deps.denylist.find([id]), [id], clock.now()) !== null
  }

  async function sessionRefusal(
    user: User | null,
    sessionId: string,
    { sessionAbsoluteTTL }: AuthSettings,
  ): Promise<AuthError | null> {
    const [family, isEnding] = await Promise.all([families.get(sessionId), isListed(sessionId)])
    const revoked = new AuthError('session_revoked')
    if (isEnding) return revoked
    if (user === null || family?.userId !== user.id || family.revokedAt !== null) return revoked
    const isSpared = user.keptSessionId === family.id
    if (family.sessionEpoch !== user.sessionEpoch && !isSpared) return revoked
    const now = clock.now()
    if (family.expiresAt <= now) return revoked
    const isTooOld = capReached(family.loginAt, sessionAbsoluteTTL, now)
    return isTooOld ? new AuthError('session_max_age_reached') : null
  }

  /** True of a login that came by no provider. */
  async function isIdentityGood(
    { userId, first }: JudgedFacts,
    settings: AuthSettings,
  ): Promise<boolean> {
    if (first === undefined || providerId(first.method) === null) return true
    const { identityId, oauthCodeId } = first
    const [identity, code] = await Promise.all([
      oauthIdentities.get(identityId),
      oauthCodeId === '' ? null : oauthCodes.get(oauthCodeId),
    ])
    const isCodeGood = oauthCodeId === '' || (code !== null && code.replayedAt === null)
    if (identity === null || isBeingLinked(identity)) return false
    // One of a tenant that was shut out meanwhile could not begin this login now.
    return identity.userId === userId && isCodeGood && isTenantAdmitted(identity, settings)
  }

  async function hasNoOtherFactor(
    user: User | null,
    { enrollmentId }: JudgedFacts,
  ): Promise<boolean> {
    if (user === null) return false
    if (enrollmentId !== undefined && user.lastIntentId === enrollmentId) return true
    return !hasFactor(await enrolledFactors(deps.collections, user.id))
  }

  function switches({ provider, first }: JudgedFacts, settings: AuthSettings): IntentState['isOn'] {
    const password = settingsFor(surface, settings).passwordLoginEnabled
    const isOn = (method = '') => {
      const id = providerId(method)
      return id === null
        ? method !== 'password' || password
        : isProviderOffered(id, surface, settings)
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
    hangsOn: readonly IntentCondition[],
    facts: JudgedFacts,
    account: User | null | undefined,
  ): Promise<IntentState> {
    const settings = await deps.settings()
    const asksSession = hangsOn.includes('session')
    const asksIdentity = hangsOn.includes('identity')
    const [refusal, isLinked, lacksFactor] = await Promise.all([
      asksSession ? sessionRefusal(account ?? null, facts.sessionId ?? '', settings) : null,
      asksIdentity && isIdentityGood(facts, settings),
      hangsOn.includes('lacksFactor') && hasNoOtherFactor(account ?? null, facts),
    ])
    return {
      ...(account === undefined ? {} : { account }),
      isSessionOpen: asksSession && refusal === null,
      isIdentityGood: isLinked,
      lacksFactor,
      isOn: switches(facts, settings),
    }
  }

  /** Throws unless the intent may have its effect, or its effect is written. */
  async function verdictOf(
    kind: IntentKind,
    facts: JudgedFacts,
    account: User | null | undefined,
  ): Promise<'good' | 'interrupted'> {
    const rules = rulesOf(kind)
    const state = await stateOf(rules.hangsOn, facts, account)
    const verdict = judgeIntent(rules, facts, state, clock.now())
    if (verdict === 'expired') throw new AuthError(rules.expired)
    if (verdict === 'switchedOff') throw new AuthError(rules.switchedOff)
    if (verdict === 'void') throw new AuthError(rules.refusal)
    return verdict
  }

  async function open<K extends IntentKind>(
    kind: K,
    facts: JudgedFacts & { readonly userId: string },
    payload: IntentPayloads[K],
    seen?: User,
  ): Promise<OpenedIntent<K>> {
    const user = seen ?? (await users.get(facts.userId))
    const verdict = await verdictOf(kind, facts, user)
    if (user === null) throw new AuthError(rulesOf(kind).refusal)
    return openedIntent({ kind, user, isWritten: verdict === 'interrupted' }, facts, payload)
  }

  return {
    open,

    async openAnonymous(kind, facts, payload) {
      await verdictOf(kind, facts, undefined)
      return openedIntent({ kind, user: null, isWritten: false }, facts, payload)
    },

    spend: spentIntent,
    spendLast: spentIntent,

    sessionRefusal: async (user, sessionId) =>
      sessionRefusal(user, sessionId, await deps.settings()),

    async again(opened, enrollmentId = null) {
      const { facts, payload } = hiddenOf(opened)
      const { id: userId } = opened.user
      const more = enrollmentId === null ? {} : { enrollmentId }
      return open(opened.kind, { ...facts, ...more, userId }, payload)
    },
  }
}
