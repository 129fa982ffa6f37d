import { startEarly } from '../../concurrency/promises.js'
import { equalConstantTime, keyedHash, randomToken, sha256 } from '../../crypto/secrets.js'
import { codeMethod, entryRules } from '../../engine/accounts.js'
import { siteOf } from '../../engine/addresses.js'
import { plainCode } from '../../engine/factors.js'
import { budgetIn, type GuessBudget, storedBudget } from '../../engine/guess-budgets.js'
import { AuthError } from '../../errors/index.js'
import type { Intents } from '../../model/intents.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { Random } from '../../ports/host.js'
import type { RequestSource } from '../../ports/surface.js'
import { requireEmail } from '../context/email-address.js'
import {
  attemptIntent,
  forgiveAttempt,
  intentOf,
  issueIntent,
  type OpenedIntent,
  openIntent,
  spendIntent,
  unlessRefused,
} from '../intents/intents.js'
import { attemptGuess, type Guess, subjectOf } from '../limits/lockout.js'
import { mailOwner } from '../mail/mail-service.js'
import { passwordBudget } from '../passwords/guess-budgets.js'
import { proveOwner } from '../passwords/password-writer.js'
import { endAllSessions, endMatchingSessions } from '../sessions/session-endings.js'
import { requireSigner } from '../sessions/tokens.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { takesCode } from '../surface/ways-in.js'
import { type FirstFactor, type LoginResult, proceedLogin } from './login-pipeline.js'

// Signing in by a mailed code. A code is good only with the key that the browser or app got that asked for it: the key
// names the intent, and the code is stored as an HMAC under the key, of which the store has the SHA-256 alone.

const lifeMs = 10 * 60 * 1000
const mostTries = 5

const hourMs = 60 * 60 * 1000
/** For each of the two counts: of strangers, and of devices that signed in to the account before. */
const threeAnHour = { limit: 3, windowMs: hourMs }
/** Beyond the three of strangers, so that ten go to an address at most. Whoever uses up the three keeps no owner out. */
const sevenMore = { limit: 7, windowMs: hourMs }
const oneForNetwork = { limit: 1, windowMs: hourMs }

/** What the browser or app is to keep, and sends with the code. */
export interface IssuedCode {
  /** Opaque; 32 random bytes. Not stored. */
  readonly codeKey: string
  /** Whole seconds. */
  readonly expiresIn: number
}

/** Mails cost the owner attention: refused with `rate_limited`, alike whether or not the address has an account. */
async function countMail(
  { limits }: SurfaceContext,
  email: string,
  budget: GuessBudget,
  { ip }: RequestSource,
): Promise<void> {
  if (budget.of !== 'address') {
    await limits.checkWith('mailedCodesOfKnown', email, threeAnHour)
    return
  }
  try {
    await limits.checkWith('mailedCodes', email, threeAnHour)
  } catch (error) {
    if (!(error instanceof AuthError && error.code === 'rate_limited')) throw error
    await limits.checkWith('mailedCodesOfNetwork', `${email} ${siteOf(ip)}`, oneForNetwork)
    await limits.checkWith('mailedCodesBeyond', email, sevenMore)
  }
}

/** 64 random bits make every code as likely as any other, up to one in 10^11. */
function eightDigits(random: Random): string {
  const drawn = Buffer.from(random.bytes(8)).readBigUInt64BE() % 100_000_000n
  return String(drawn).padStart(8, '0')
}

/**
 * Mails a code where the address has an account that may use it; the caller learns nothing, and the key is one of no
 * account otherwise. Throws `rate_limited`, and `invalid_request` for what is no address.
 */
export async function mailLoginCode(
  ctx: SurfaceContext,
  typed: string,
  asker: { readonly recognitionId: string | null; readonly languages: readonly string[] },
  source: RequestSource,
): Promise<IssuedCode> {
  const email = await requireEmail(typed, 'email')
  const found = startEarly(ctx.collections.users.find({ email }, { limit: 1 }))
  const keys = { recognitionId: asker.recognitionId, signInKey: null }
  const budget = await passwordBudget(ctx, keys, found)
  await countMail(ctx, email, budget, source)
  const rules = entryRules(ctx.surface, await ctx.settings())
  const [user] = await found
  const owner = user !== undefined && takesCode(user, rules) ? user : null
  const [codeKey, code] = [randomToken(ctx.random), eightDigits(ctx.random)]
  const payload = { codeHash: keyedHash(codeKey, code), budget: storedBudget(budget) }
  // Stored for whatever address, so that each costs the same.
  const terms = { user: owner, boundTo: email, payload, lifeMs }
  const expiresAt = await issueIntent(ctx, 'mailedCode', codeKey, terms)
  if (owner !== null) {
    const site = new URL(ctx.links.login).host
    const data = { code, expiresAt, site, at: ctx.clock.now(), ...source }
    void mailOwner(ctx, owner, { template: 'loginCode', data }, asker.languages)
  }
  return { codeKey, expiresIn: lifeMs / 1000 }
}

type Stored = Intents['mailedCode']

/** A key, and the code that was asked for with it. */
interface Asked {
  readonly key: string
  readonly stored: Stored
}

/** Of more keys than a browser keeps of a few minutes, the newest are looked at. */
const mostKeys = 8

/** The newest of the keys with a code that can still be tried. One without tries left counts as no guess. */
async function askedWith(ctx: SurfaceContext, keys: readonly string[]): Promise<Asked | null> {
  for (const key of keys.slice(-mostKeys).reverse()) {
    const stored = intentOf(ctx, 'mailedCode', await ctx.collections.challenges.get(sha256(key)))
    if (stored === null) continue
    const isLive = stored.expiresAt > ctx.clock.now() && stored.attempts < mostTries
    return isLive ? { key, stored } : null
  }
  return null
}

type Verdict = { readonly ok: false } | { readonly ok: true; readonly opened: Opened }
type Opened = OpenedIntent<'mailedCode'>

const wrong: Verdict = { ok: false }

async function open(ctx: SurfaceContext, { key, stored }: Asked, typed: string): Promise<Verdict> {
  if (!equalConstantTime(stored.payload.codeHash, keyedHash(key, plainCode(typed)))) return wrong
  // Taken before it is judged: a crash in between costs a new code, and signs nobody in twice.
  if ((await ctx.collections.challenges.take(stored.id)) === null) return wrong
  const opened = await unlessRefused('mailedCode', openIntent(ctx, 'mailedCode', stored))
  return opened === null ? wrong : { ok: true, opened }
}

/** Beyond the five tries nothing is looked at, so it is no guess either: one code locks nobody out. */
async function attempt(
  ctx: SurfaceContext,
  asked: Asked,
  typed: string,
  source: RequestSource,
): Promise<Verdict> {
  const { id, userId } = asked.stored
  if ((await attemptIntent(ctx, id, mostTries)) === null) return wrong
  try {
    return await attemptGuess(
      ctx,
      guessAt(asked.stored),
      () => open(ctx, asked, typed),
      (_, { until, budget }) => ctx.emit('login.lockedOut', source, { userId, until, budget }),
    )
  } catch (error) {
    await forgiveAttempt(ctx, id)
    throw error
  }
}

/** Counted apart from passwords, so that neither kind of guess locks the other out. */
function guessAt({ boundTo, userId, payload }: Stored): Guess {
  const budget = budgetIn(payload.budget)
  const subject = budget.of === 'address' ? boundTo : subjectOf(userId ?? '', budget)
  return { counter: 'mailedCodeFailures', subject, budget: budget.of }
}

/** The account, which comes to the owner of the mailbox where nobody proved that before. */
async function provedUser(ctx: SurfaceContext, opened: Opened, source: RequestSource) {
  const { user } = opened
  // The account may have got a role meanwhile for which a mailbox is not enough.
  if (!takesCode(user, entryRules(ctx.surface, await ctx.settings()))) {
    throw new AuthError('invalid_credentials')
  }
  if (user.emailVerifiedAt !== null) {
    // A proof that was cut short left the sessions of whoever was there before.
    const isOlder = ({ id, sessionEpoch }: RefreshFamily) =>
      sessionEpoch < user.sessionEpoch && id !== user.keptSessionId
    const older = { userId: user.id, family: isOlder, rowless: () => false }
    await endMatchingSessions(ctx, older, 'password_change', source)
    return user
  }
  const proof = { by: spendIntent(opened), newPassword: null, source }
  const proved = await proveOwner(ctx, user, proof)
  if (proved === null) throw new AuthError('invalid_credentials')
  await endAllSessions(ctx, proved.id, 'password_change', source)
  return proved
}

/** What comes with a code. */
export interface ShownCodeLogin
  extends Pick<FirstFactor, 'delivery' | 'deviceToken' | 'recognition'> {
  /** What the browser or app got when it asked, the oldest first. */
  readonly keys: readonly string[]
  readonly code: string
}

/**
 * Throws `invalid_credentials` for whatever is wrong: the code, the browser, an account that changed since, a code that
 * is spent, too old or was tried too often; `rate_limited` once too many were wrong.
 */
export async function loginWithCode(
  ctx: SurfaceContext,
  { keys, code, ...device }: ShownCodeLogin,
  source: RequestSource,
): Promise<LoginResult> {
  const asked = await askedWith(ctx, keys)
  const userId = asked?.stored.userId ?? null
  let verdict = wrong
  if (asked !== null) {
    // A code is good once, and not spent on a login that no key would sign.
    await requireSigner(ctx)
    verdict = await attempt(ctx, asked, code, source)
  }
  if (!verdict.ok) {
    const reason = 'invalid_credentials'
    ctx.emit('login.failed', source, { userId, method: codeMethod, reason })
    throw new AuthError(reason)
  }
  const user = await provedUser(ctx, verdict.opened, source)
  const how = { method: codeMethod, amr: ['otp'], factors: null, second: null }
  return proceedLogin(ctx, { user, ...how, ...device }, source)
}
