import type { SessionChange } from './session-risk-scorer.js'

/**
 * The reason why a session ended: `replay` a refresh token used twice, `limit` a newer session beyond
 * `maxConcurrentSessions`, `guesses` too many wrong passwords, codes or passkeys shown within it, `factor_change` a change of second factors
 * in another session, `risk` by the host's `sessionRiskScorer`.
 */
export type EndReason =
  | 'logout'
  | 'max_age'
  | 'admin'
  | 'replay'
  | 'password_change'
  | 'limit'
  | 'guesses'
  | 'factor_change'
  | 'risk'

export type SessionEvent =
  | {
      /** A session ended; its tokens are refused from now on. */
      readonly type: 'session.terminated'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
      /** The owner, or the actor that the host's code named; null for the library itself. */
      readonly actorId: string | null
    }
  | {
      /** No session opened before can be refreshed any more. The end of each follows. */
      readonly type: 'session.allTerminated'
      readonly actorId: string | null
      readonly targetId: string
    }
  | {
      /**
       * `GET …/session` minted an access token, or `sessionOf` found the session: the first time within
       * an hour for this session, network and user agent, counted per process. It leaves no audit record.
       */
      readonly type: 'session.viewed'
      readonly userId: string
      readonly sessionId: string
    }
  | {
      /**
       * `sessionOf` met the cookie of a session that is due to end, and ended nothing: the next refresh ends it
       * for this reason, such as `replay` for a token that was replaced, or `max_age`. The first time within an
       * hour for this session, reason, network and user agent, counted per process. It leaves no audit record;
       * the end does.
       */
      readonly type: 'session.overdue'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
    }

export type RefreshEvent =
  | {
      /** An ordinary refresh. It leaves no audit record, which would double its cost. */
      readonly type: 'refresh.rotated'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** A caller got a token of the current generation for one that was just replaced: a second tab,
       * a lost reply, or a thief who follows the family. */
      readonly type: 'refresh.reissued'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
      /** The token was rotated by another user agent than this caller's: rather a thief than a tab. */
      readonly otherClient: boolean
    }
  | {
      /** A refresh from another place, of which `sessionRiskScorer` thought something. */
      readonly type: 'refresh.unusual'
      readonly userId: string
      readonly sessionId: string
      /** Since the session's last refresh. */
      readonly changed: readonly SessionChange[]
      readonly outcome: 'stepUp' | 'end'
      /** False where the scorer gave no answer, so that the outcome is `stepUp`. */
      readonly assessed: boolean
    }
  | {
      /** A refresh token was shown after another had replaced it, so two callers hold it. The session ends. */
      readonly type: 'refresh.replayDetected'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }
  | {
      /** A refresh token is newer than its row, so the store was restored from an older copy. The session ends. */
      readonly type: 'refresh.storeRolledBack'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }
