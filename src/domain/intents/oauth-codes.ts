import { randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { OauthCode } from '../../model/intents.js'
import type { RequestSource } from '../../ports/surface.js'
import { endSession } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { openIntent, type SpentIntent, spendIntent } from './intent-judge.js'

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
