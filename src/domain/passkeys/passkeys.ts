import {
  type Assertion,
  type AssertionResponse,
  type RequestOptions,
  requestOptions,
  verifyAssertion,
} from '../../crypto/webauthn.js'
import { isRegressed } from '../../engine/factors.js'
import { type GuessBudget, sharedBudget } from '../../engine/guess-budgets.js'
import { isToldGuess } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import { maxPasskeys, type Passkey } from '../../model/factors.js'
import type { PasskeyRefusal } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SignedIn } from '../context/actor.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import { offeredMethods } from '../factors/code-verification.js'
import { endsAllBut, sparing } from '../factors/factor-changes.js'
import { removePasskeyFactor } from '../factors/own-factors.js'
import { recordStepUp, requireOpenSession } from '../factors/step-up.js'
import {
  type Ceremony,
  challengeLifeMs,
  issueChallenge,
  spendChallenge,
} from '../intents/passkey-challenges.js'
import { attemptGuess, factorGuess } from '../limits/lockout.js'
import type { ShownSecond } from '../login/login-pipeline.js'
import { tellOwnerOfGuesses } from '../mail/mail-service.js'
import { attemptInSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'

/** What has to hold of an assertion beside its signature. */
export interface AssertionTerms {
  readonly challenge: string
  /** Whether the authenticator must have verified the person: PIN, fingerprint, face. */
  readonly userVerification: 'preferred' | 'required'
  /** Whether another factor was shown before, so that a first verification of the person counts. */
  readonly besideFactor: boolean
}

/** An assertion with the right signature, which is not noted yet. */
export interface VerifiedAssertion {
  readonly passkey: Passkey
  readonly use: Use
  readonly isEnough: boolean
}

/** An assertion that was verified, and the challenge it answers. */
interface Use extends Assertion {
  readonly challenge: string
}

/** Uses that race each other move the counter. */
const tries = 8

/** The passkey that a response names, of any user. */
export function findPasskey(ctx: SurfaceContext, credentialId: string): Promise<Passkey | null> {
  return ctx.collections.passkeys.get(credentialId)
}

function emitRegression(ctx: SurfaceContext, seen: Passkey, use: Use, source: RequestSource): void {
  const { userId, id: credentialId, counter: storedCounter } = seen
  const facts = { userId, credentialId, storedCounter, shownCounter: use.counter }
  ctx.emit('mfa.passkeyCounterRegressed', source, facts)
}

function emitBackupChange(
  ctx: SurfaceContext,
  seen: Passkey,
  { backedUp, backupEligible }: Use,
  source: RequestSource,
): void {
  if (seen.backedUp === backedUp && seen.backupEligible === backupEligible) return
  const { userId, id: credentialId } = seen
  const facts = { userId, credentialId, backedUp, backupEligible }
  ctx.emit('mfa.passkeyBackupChanged', source, facts)
}

/** Whether this use was the next one after those seen; false too when another came between. */
async function advance(ctx: SurfaceContext, seen: Passkey, use: Use): Promise<boolean> {
  const { id, counter, userId, publicKey } = seen
  const noted = await ctx.collections.passkeys.update(
    id,
    { counter, userId, publicKey },
    {
      counter: use.counter,
      // WebAuthn §7.2 refuses one that changed. Password managers change it, and no policy here asks for it.
      backupEligible: use.backupEligible,
      backedUp: use.backedUp,
      // The use of a factor cancels its removal, which then has to start over.
      removingBy: null,
      lastUsedAt: ctx.clock.now(),
      lastChallenge: use.challenge,
      ...(use.userVerified ? { uvInitialized: true } : {}),
    },
  )
  return noted !== null
}

/** Null once the use is noted. Else why it is not: the counter went back, or the passkey was removed. */
async function noteUse(
  ctx: SurfaceContext,
  passkey: Passkey,
  use: Use,
  source: RequestSource,
): Promise<PasskeyRefusal | null> {
  let seen: Passkey | null = passkey
  return retryOnConflict<PasskeyRefusal | null>(tries, async () => {
    // Removed meanwhile, perhaps registered again: by then it opens another account, or has another key.
    if (seen?.publicKey !== passkey.publicKey || seen.userId !== passkey.userId) {
      return 'credential_unknown'
    }
    // Noted already: the store carried the write out and said otherwise.
    if (seen.lastChallenge === use.challenge) return null
    if (isRegressed(seen.counter, use.counter)) {
      emitRegression(ctx, seen, use, source)
      return 'counter_regressed'
    }
    if (await advance(ctx, seen, use)) {
      emitBackupChange(ctx, seen, use, source)
      return null
    }
    seen = await findPasskey(ctx, passkey.id)
    return conflict
  })
}

/** Verifies the signature over the challenge. The reason, for an event, if anything is wrong. */
export async function verifyPasskey(
  ctx: SurfaceContext,
  passkey: Passkey,
  response: AssertionResponse,
  terms: AssertionTerms,
): Promise<VerifiedAssertion | PasskeyRefusal> {
  const { userHandle } = response.response
  if (userHandle && userHandle !== userHandleOf(passkey.userId)) return 'user_handle_mismatch'
  const { challenge, userVerification, besideFactor } = terms
  const requireUserVerification = userVerification === 'required'
  const expected = { ...ctx.relyingParty, challenge, requireUserVerification }
  const shown = await verifyAssertion(response, expected, passkey)
  if (typeof shown === 'string') return shown
  const userVerified = shown.userVerified && (besideFactor || passkey.uvInitialized)
  const isEnough = userVerified || !requireUserVerification
  return { passkey, use: { ...shown, userVerified, challenge }, isEnough }
}

/**
 * Notes the use of a passkey, once. The reason when the counter went back, which is an event of its own, and when the
 * person was not verified as the terms ask. Else whether the person was verified.
 */
export async function noteAssertion(
  ctx: SurfaceContext,
  { passkey, use, isEnough }: VerifiedAssertion,
  source: RequestSource,
): Promise<{ readonly userVerified: boolean } | PasskeyRefusal> {
  if (!isEnough) return 'user_not_verified'
  return (await noteUse(ctx, passkey, use, source)) ?? { userVerified: use.userVerified }
}

// A passkey of a user who is known by other means: a password, or a session.

/** What a client sends back of a ceremony. */
export interface ShownPasskey {
  readonly challengeId: string
  readonly response: AssertionResponse
}

/**
 * Accepts a response and spends its challenge. Throws `invalid_mfa_code`, alike whatever is wrong,
 * and `rate_limited` while too many were wrong. Those after a password are counted for the user, and those within a session
 * for the session, which ends with the last one.
 */
export async function showPasskey(
  ctx: SurfaceContext,
  ceremony: Ceremony,
  { challengeId, response }: ShownPasskey,
  terms: {
    readonly userVerification: 'preferred' | 'required'
    readonly besideFactor: boolean
    /** Whose guesses it counts with at a login. */
    readonly budget?: GuessBudget
  },
  source: RequestSource,
): Promise<{ readonly userVerified: boolean }> {
  const { user, kind, boundTo } = ceremony
  const sessionId = kind === 'passkeyStepUp' ? boundTo : null
  const facts = { userId: user.id, method: 'webauthn', sessionId } as const

  const guess = { number: 0, mailed: false }

  async function noted() {
    const intent = await spendChallenge(ctx, challengeId, ceremony)
    if (intent === null) return 'challenge_unknown'
    const passkey = await findPasskey(ctx, response.id)
    if (passkey?.userId !== user.id) return 'credential_unknown'
    const { challenge } = intent.stored.payload
    const verified = await verifyPasskey(ctx, passkey, response, { ...terms, challenge })
    return typeof verified === 'string' ? verified : noteAssertion(ctx, verified, source)
  }

  async function check(failedBefore: number) {
    guess.number = failedBefore + 1
    const shown = await noted()
    if (typeof shown === 'string') return { ok: false, userVerified: false, reason: shown }
    return { ok: true, ...shown, reason: null }
  }

  function tellOfFailure(reason: PasskeyRefusal | null) {
    ctx.emit('mfa.failed', source, { ...facts, reason })
    if (isToldGuess(guess)) tellOwnerOfGuesses(ctx, user.id, 'secondFactor', source)
  }

  async function inSession(failedBefore: number) {
    const result = await check(failedBefore)
    // Before the session ends, which may fail.
    if (!result.ok) tellOfFailure(result.reason)
    return result
  }

  async function atLogin() {
    const result = await attemptGuess(
      ctx,
      factorGuess('passkeyFailures', user.id, terms.budget ?? sharedBudget),
      check,
      (_, { until, budget }) => {
        ctx.emit('mfa.lockedOut', source, { ...facts, until, budget })
      },
    )
    if (!result.ok) tellOfFailure(result.reason)
    return result
  }

  const { ok, userVerified } =
    sessionId === null
      ? await atLogin()
      : await attemptInSession(
          ctx,
          { counter: 'factorFailuresOfSession', userId: user.id, sessionId },
          inSession,
          source,
        )
  if (!ok) throw new AuthError('invalid_mfa_code')
  return { userVerified }
}

// The places for a user's passkeys. Each is held by one passkey, by a unique index of the store, so
// parallel registrations can never exceed the limit.

/** A passkey that has no slot yet. */
export type NewPasskey = Omit<Passkey, 'slot'>

/** Each conflict is another passkey that came or went, of which there are few. */
const slotTries = 2 * maxPasskeys

/** The user's passkeys. Throws `factor_already_enrolled` when there are as many as there may be. */
export async function requirePasskeyRoom(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly Passkey[]> {
  const existing = await passkeysOfUser(ctx.collections, userId)
  if (existing.length < maxPasskeys) return existing
  const detail = `There are ${maxPasskeys} passkeys already. Remove one first.`
  throw new AuthError('factor_already_enrolled', { detail })
}

/**
 * Stores a passkey in a free slot; one that is stored already stays as it is. Throws
 * `factor_already_enrolled` without a free slot, and for a credential of another registration.
 */
export function storePasskey(ctx: SurfaceContext, passkey: NewPasskey): Promise<void> {
  const { id, userId, lastChallenge } = passkey
  return retryOnConflict(slotTries, async () => {
    const slot = freeSlot(await requirePasskeyRoom(ctx, userId))
    if (await ctx.collections.passkeys.insert({ ...passkey, slot })) return
    const found = await ctx.collections.passkeys.get(id)
    // Another passkey has the slot now.
    if (found === null) return conflict
    // This very registration: the store stored it and said otherwise.
    if (found.lastChallenge === lastChallenge) return
    throw new AuthError('factor_already_enrolled')
  })
}

function freeSlot(existing: readonly Passkey[]): number {
  const held = new Set(existing.map(({ slot }) => slot))
  let slot = 0
  while (held.has(slot)) slot += 1
  return slot
}

// A person's own passkeys, also while the settings allow none.

const credentialIds = /^[\w-]{1,1364}$/

/** Oldest first. */
export async function listPasskeys(
  ctx: SurfaceContext,
  { user }: SignedIn,
): Promise<readonly Passkey[]> {
  const own = await passkeysOfUser(ctx.collections, user.id)
  return own.toSorted((one, other) => one.createdAt - other.createdAt)
}

/**
 * Voids earlier proofs, and ends the other sessions unless `endOtherSessions` is false. Throws
 * `factor_not_found`, also for a passkey of another user, `last_factor_required` and
 * `last_login_method`. The caller has shown a second factor.
 */
export async function removeOwnPasskey(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  credentialId: string,
  source: RequestSource,
  endOtherSessions?: boolean,
): Promise<void> {
  const others = endsAllBut({ spared: sparing(sessionId), endOtherSessions }, true)
  const change = { change: 'passkeyRemoved', source, askedIn: sessionId, ...others } as const
  const isId = credentialIds.test(credentialId)
  if (!isId || !(await removePasskeyFactor(ctx, user, credentialId, change))) {
    throw new AuthError('factor_not_found')
  }
}

/**
 * A passkey as the factor of a login. `pop` is a proof of possession of a key; without an attestation,
 * a server cannot tell hardware from software. `user` says that a person was present (RFC 8176 and its
 * registry). Only a passkey that verified its owner is a proof for a step-up.
 */
export function passkeyFactor(userVerified: boolean): ShownSecond {
  return { method: 'webauthn', amr: ['pop', 'user'], isProof: userVerified }
}

/**
 * Whether the settings let this user show a passkey. While passkeys are off: only a user with a passkey
 * and no other second factor. It does not say whether there is a passkey, which the caller looks up.
 */
export async function mayShowPasskey(
  deps: Pick<SurfaceContext, 'collections' | 'settings'>,
  userId: string,
): Promise<boolean> {
  if ((await deps.settings()).webauthnMode !== 'off') return true
  return (await offeredMethods(deps, userId)).includes('webauthn')
}

/** What an authenticator knows a person by (WebAuthn §14.6.1): the id, base64url, and no address. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString('base64url')
}

// Proving a passkey again within a session. One that does not verify its owner proves nothing.

async function ownPasskeys(ctx: SurfaceContext, { user }: SignedIn) {
  const own = await passkeysOfUser(ctx.collections, user.id)
  if (own.length === 0) throw new AuthError('factor_not_found')
  return own
}

/** Throws `mfa_method_disabled` and `factor_not_found`. */
export async function startPasskeyStepUp(
  ctx: SurfaceContext,
  who: SignedIn,
): Promise<StartedAssertion> {
  const { user, sessionId: boundTo } = who
  if (!(await mayShowPasskey(ctx, user.id))) throw new AuthError('mfa_method_disabled')
  const allow = await ownPasskeys(ctx, who)
  const { challengeId, challenge } = await issueChallenge(ctx, 'passkeyStepUp', { user, boundTo })
  const options = await requestOptions({
    rpId: ctx.relyingParty.rpId,
    challenge,
    allow,
    userVerification: 'required',
    timeoutMs: challengeLifeMs,
  })
  return { challengeId, options }
}

/**
 * Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`, `rate_limited`, and what
 * `sessionRefusal` gives.
 */
export async function finishPasskeyStepUp(
  ctx: SurfaceContext,
  who: SignedIn,
  shown: ShownPasskey,
  source: RequestSource,
): Promise<number> {
  const { user, sessionId } = who
  await ownPasskeys(ctx, who)
  if (!(await mayShowPasskey(ctx, user.id))) throw new AuthError('invalid_mfa_code')
  await requireOpenSession(ctx, who)
  const ceremony = { kind: 'passkeyStepUp', user, boundTo: sessionId } as const
  const terms = { userVerification: 'required', besideFactor: false } as const
  await showPasskey(ctx, ceremony, shown, terms, source)
  const provedAt = await recordStepUp(ctx, user, sessionId, 'webauthn')
  ctx.emit('mfa.steppedUp', source, { userId: user.id, sessionId, method: 'webauthn' })
  return provedAt
}

// Passkeys at a login: behind a first factor, or in place of both (WebAuthn §7.2).

export interface StartedAssertion {
  readonly challengeId: string
  readonly options: RequestOptions
}
