import { randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { OauthCode } from '../../model/intents.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from './intent-judge.js'
import type { SpentIntent } from './spent-intent.js'

type CodeFacts = Omit<
  OauthCode,
  'id' | 'goodUntil' | 'redeemedAt' | 'replayedAt' | 'sessionId' | 'expiresAt'
>

export type CodeIntent = SpentIntent<'appCode'>

/**
 * Codes that apps exchange for a login. A code that comes a second time with the right verifier is
 * in two hands: what it gave to the first is ended (RFC 6749 §4.1.2). There is no grace, as of
 * refresh tokens: an app whose answer was lost begins again, which costs the person nothing.
 */
export interface OauthCodes {
  /** The code, for the redirect to the app. Not stored. */
  issue(facts: CodeFacts): Promise<string>
  /**
   * Spends it. Throws `invalid_token`, also for an account that changed since, and
   * `oauth_provider_disabled`; with another verifier than the app's, nothing is changed.
   */
  redeem(code: string, codeVerifier: string, source: RequestSource): Promise<CodeIntent>
  /**
   * Notes the session the code came to, before a caller gets it. False when the code came again
   * meanwhile: then the session is ended.
   */
  bindSession(codeId: string, session: OpenedSession, source: RequestSource): Promise<boolean>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

/** The session that a code came to, and whose it is. */
interface OpenedSession {
  readonly sessionId: string
  readonly user: { readonly id: string }
}

/** Ends one session. */
export interface SessionEnding {
  end(
    session: { readonly id: string; readonly userId: string },
    reason: 'replay',
    source: RequestSource,
  ): Promise<unknown>
}

/** RFC 6749 §4.1.2 asks for a short life; an app redeems a code at once. */
const codeLifeMs = 60 * 1000
/** Beyond the end of a login ticket that a code became, so that neither outlives what ends it. */
const keptMs = 10 * 60 * 1000
/** RFC 7636 §4.1 */
const verifierForm = /^[\w.~-]{43,128}$/

export function createOauthCodes(
  deps: Deps,
  judge: IntentJudge,
  ending: SessionEnding,
): OauthCodes {
  const { clock } = deps
  const { oauthCodes } = deps.collections

  /**
   * Marked before anything is ended: a login that is on its way finds the mark when it notes its
   * session. Marked already, the ending may have been cut short, and is done again.
   */
  async function endFirst(id: string, codeChallenge: string, source: RequestSource): Promise<void> {
    const guard = { codeChallenge, replayedAt: null }
    const marked = await oauthCodes.update(id, guard, { replayedAt: clock.now() })
    const code = marked ?? (await oauthCodes.get(id))
    if (code?.codeChallenge !== codeChallenge || code.sessionId === null) return
    await ending.end({ id: code.sessionId, userId: code.userId }, 'replay', source)
  }

  return {
    async issue(facts) {
      const code = randomToken(deps.random)
      const now = clock.now()
      const stored = await oauthCodes.insert({
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
    },

    async redeem(code, codeVerifier, source) {
      if (!verifierForm.test(codeVerifier)) throw new AuthError('invalid_token')
      const id = sha256(code)
      // A thief of the redirect URL has only the code, and can end nothing with it.
      const codeChallenge = sha256(codeVerifier)
      const redeemedAt = clock.now()
      const guard = { codeChallenge, redeemedAt: null }
      const redeemed = await oauthCodes.update(id, guard, { redeemedAt })
      if (redeemed === null) {
        await endFirst(id, codeChallenge, source)
        throw new AuthError('invalid_token')
      }
      const { userId, provider, identityId, sessionEpoch, credentialEpoch, goodUntil } = redeemed
      // A second use that comes meanwhile is seen when the session is noted, and ends it.
      const first = { method: provider, identityId, oauthCodeId: '' }
      const epochs = { sessionEpoch, credentialEpoch }
      const facts = { id, userId, provider, first, ...epochs, expiresAt: goodUntil }
      return judge.spend(await judge.open('appCode', facts, redeemed))
    },

    async bindSession(codeId, { sessionId, user }, source) {
      if (codeId === '') return true
      const kept = await oauthCodes.update(codeId, { replayedAt: null }, { sessionId })
      if (kept !== null) return true
      await ending.end({ id: sessionId, userId: user.id }, 'replay', source)
      return false
    },
  }
}
