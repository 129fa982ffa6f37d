import { withTimeout } from '../../concurrency/promises.js'
import { randomToken, sha256 } from '../../crypto/secrets.js'
import {
  isAfterGuesses,
  isSamePlace,
  keptKeys,
  placeOf,
  recognitionIds,
  scoreLogin,
  surplusBeside,
} from '../../engine/login-risk-rules.js'
import { describeError } from '../../errors/index.js'
import { knownLoginMs } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type {
  PastLogin,
  RiskAssessment,
  RiskQuestion,
  RiskScorer,
  RiskSignal,
} from '../../ports/risk-scorers.js'
import type { RequestSource } from '../../ports/surface.js'
import { mailNewDevice, tellOwnerOfGuesses } from '../mail/mail-service.js'
import type { StoredLogin } from '../passwords/guess-budgets.js'
import type { OpenedSession } from '../sessions/sessions.js'
import { recognitionHash } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Judges logins before they are sessions and notifies their owners of unusual ones.

/** A login to be judged: what the scorer is asked, but for what is known here. */
export type LoginInQuestion = Pick<
  RiskQuestion,
  'method' | 'mfaMethod' | 'deviceId' | 'failedAttempts'
> & {
  readonly history: readonly StoredLogin[]
  /** What the browser or app sent to be known by; null without. */
  readonly recognitionId: string | null
}

/** The assessment of a login, and whether its owner is notified once it is a session. */
export interface JudgedLogin extends RiskAssessment {
  readonly isNotified: boolean
  readonly isMailed: boolean
  /** Whether the right password came after so many wrong ones that the owner is told of it. */
  readonly isAfterGuesses: boolean
  readonly login: Omit<StoredLogin, 'sessionId'>
  /** What it was judged by. */
  readonly history: readonly StoredLogin[]
  /** For the browser or app, once the login is a session; null where recognition is off. */
  readonly recognition: RecognitionGrant | null
}

/** How long the scorer may think. */
const timeoutMs = 2000

const levels: readonly RiskAssessment['level'][] = ['low', 'elevated', 'high']
const knownSignals: readonly RiskSignal[] = [
  'newDevice',
  'newNetwork',
  'failedAttempts',
  'unassessed',
]

async function ask(ctx: SurfaceContext, question: RiskQuestion): Promise<RiskAssessment> {
  try {
    const answer: unknown = await withTimeout(ctx.riskScorer.assess(question), timeoutMs, ctx.clock)
    const level = levels.find((one) => one === memberOf(answer, 'level'))
    const signals = memberOf(answer, 'signals')
    if (level === undefined || !Array.isArray(signals)) throw new TypeError('no assessment')
    // The host's words count only if the list has them: they go into events and records.
    return { level, signals: knownSignals.filter((signal) => signals.includes(signal)) }
  } catch (cause) {
    ctx.logger.error('the risk scorer failed', describeError(cause))
    return { level: 'high', signals: ['unassessed'] }
  }
}

/** Never rejects for the scorer's sake: one that fails counts as `high`. */
export async function judgeLoginRisk(
  ctx: SurfaceContext,
  user: User,
  { recognitionId, ...login }: LoginInQuestion,
  source: RequestSource,
): Promise<JudgedLogin> {
  const { notifyNewDevice } = await ctx.settings()
  const at = ctx.clock.now()
  const { method, mfaMethod, deviceId, history } = login
  const { known, next, grant } = recognitionOf(ctx, user.id, recognitionId, history)
  const asked = {
    surface: ctx.surface,
    userId: user.id,
    at,
    ...source,
    ...login,
    history: history.map(({ secretsEpoch: _, factorEpoch: __, sessionId: ___, ...past }) => past),
    recognitionHash: known,
  }
  const assessment = await ask(ctx, asked)
  // Those of the account as it was judged: it may change before the login is stored.
  const { secretsEpoch } = user
  const epochs = { secretsEpoch, factorEpoch: mfaMethod === null ? -1 : secretsEpoch }
  // A first login has no other device to compare with.
  const isNotified = assessment.level !== 'low' && user.lastLoginAt !== null
  return {
    ...assessment,
    isNotified,
    isMailed: isNotified && notifyNewDevice,
    isAfterGuesses: isAfterGuesses(login.failedAttempts),
    login: { at, ...source, method, mfaMethod, deviceId, recognitionHash: next, ...epochs },
    history,
    recognition: grant,
  }
}

/**
 * Tells the owner of a right password after guesses, where the login goes no further yet: its guesses are known
 * here and not where it is completed.
 */
export function noteGuesses(
  ctx: SurfaceContext,
  user: User,
  {
    failedAttempts,
    history,
    recognitionId,
  }: Pick<LoginInQuestion, 'failedAttempts' | 'history' | 'recognitionId'>,
  source: RequestSource,
): void {
  if (!isAfterGuesses(failedAttempts)) return
  const { known } = recognitionOf(ctx, user.id, recognitionId, history)
  const place = { ...source, deviceId: null, recognitionHash: known }
  // Not by the host's scorer, which is asked once of each login, when it is completed.
  const { level } = scoreLogin({ ...place, failedAttempts: 0, history })
  tellOwnerOfGuesses(ctx, user.id, level === 'low' ? 'knownPassword' : 'password', source)
}

/** What follows, once the session is opened: it is remembered, and its owner is told. */
export function notifyLogin(
  ctx: SurfaceContext,
  { user, sessionId }: OpenedSession,
  judged: JudgedLogin,
  source: RequestSource,
): void {
  const { signals, isNotified, isMailed, login, history } = judged
  rememberLogin(ctx, user.id, { ...login, sessionId }, history)
  // One mail of one login: that of a new device says as much.
  if (judged.isAfterGuesses && !isMailed) {
    const reason = judged.level === 'low' ? 'knownPassword' : 'password'
    tellOwnerOfGuesses(ctx, user.id, reason, source)
  }
  if (!isNotified) return
  const at = ctx.clock.now()
  ctx.emit('login.newDevice', source, { at, userId: user.id, sessionId, signals })
  if (isMailed) mailNewDevice(ctx, user, { at, ...source })
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

// The logins of the last ninety days, one for each device and network.

function idOf(userId: string, login: PastLogin): string {
  return sha256(JSON.stringify([userId, ...placeOf(login)]))
}

/** A login that is remembered late does not take the place of a newer one. */
async function write(
  ctx: SurfaceContext,
  userId: string,
  login: StoredLogin,
  isSeenBefore: boolean,
) {
  const { at, method, recognitionHash = null, factorEpoch, ...place } = login
  const id = idOf(userId, login)
  const facts = { ...place, loginAt: at, recognitionHash, loginMethod: method }
  const next = { ...facts, expiresAt: at + knownLoginMs }
  const insert = () => ctx.collections.knownLogins.insert({ id, userId, ...next, factorEpoch })
  // A login that a trusted device let in leaves the proof of an earlier one.
  const set = login.mfaMethod === null ? next : { ...next, factorEpoch }
  const update = async () =>
    (await ctx.collections.knownLogins.update(id, { userId, loginAt: { lte: at } }, set)) !== null
  // Where the insert finds one, another login from there was a moment earlier.
  if (isSeenBefore && (await update())) return
  if (!(await insert())) await update()
}

/**
 * Beside the reply. One that is lost makes the next login from there a new one. `history` is what `of`
 * gave for this login: what is too much of it is taken away.
 */
export function rememberLogin(
  ctx: SurfaceContext,
  userId: string,
  login: StoredLogin,
  history: readonly PastLogin[],
): void {
  ctx.background.run('remembering a login', async () => {
    const isSeenBefore = history.some((past) => isSamePlace(past, login))
    await write(ctx, userId, login, isSeenBefore)
    for (const past of surplusBeside(login, history)) {
      await ctx.collections.knownLogins.take(idOf(userId, past), { loginAt: { lte: past.at } })
    }
  })
}

/** What a browser or app is known by at later logins. Alone it grants nothing. */
export interface RecognitionGrant {
  /** Opaque. It may hold the ids of several accounts, the newest first, and tells them apart. */
  readonly recognitionId: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/**
 * What a request brings to be known by; null without. As with refresh tokens, each counts where the
 * tokens of the login go, so that no script of a page has the cookie's value put into a body.
 */
export interface ShownRecognition {
  readonly cookie: string | null
  readonly body: string | null
}

/** What a login's recognition id says of its device, and what the device gets if the login succeeds. */
export interface Recognised {
  /** The hash of what was sent, if this account has it; null otherwise. */
  readonly known: string | null
  /** What is stored with the login; null where recognition is off. */
  readonly next: string | null
  readonly grant: RecognitionGrant | null
}

/** 128 bits */
const idBytes = 16

const off: Recognised = { known: null, next: null, grant: null }

/**
 * `shown` is what the browser or app keeps; null without. An id that this account has is kept on. Any
 * other may have been planted: it is never taken for this account, which gets a new one. It stays
 * beside the new one all the same: it may be that of another account in the same browser, which
 * would be new there again after each login of this one.
 */
export function recognitionOf(
  ctx: SurfaceContext,
  userId: string,
  shown: string | null,
  history: readonly PastLogin[],
): Recognised {
  if (!ctx.recognisesDevices) return off
  const past = new Set(history.map(({ recognitionHash }) => recognitionHash))
  const all = recognitionIds(shown).map((id) => ({ id, hash: recognitionHash(userId, id) }))
  const own = all.find(({ hash }) => past.has(hash))
  const id = own?.id ?? randomToken(ctx.random, idBytes)
  const others = all.filter(({ hash }) => !past.has(hash)).map((other) => other.id)
  return {
    known: own?.hash ?? null,
    next: recognitionHash(userId, id),
    grant: { recognitionId: keptKeys(id, others), expiresIn: knownLoginMs / 1000 },
  }
}

/** What judges logins where the host has no scorer of its own. */
export const defaultRiskScorer: RiskScorer = {
  assess: async (question) => scoreLogin(question),
}
