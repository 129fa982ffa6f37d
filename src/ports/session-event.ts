/** Why a session ended. */
export type EndReason = 'logout' | 'max_age' | 'admin' | 'replay' | 'password_change' | 'limit'

export type SessionEvent =
  | {
      readonly type: 'session.terminated'
      readonly userId: string
      readonly sessionId: string
      readonly reason: EndReason
      /** Who ended it: its owner, whom the host's code named, or null for the library itself. */
      readonly actorId: string | null
    }
  | {
      /** From here on no session opened before can be refreshed; each one's end follows. */
      readonly type: 'session.allTerminated'
      readonly actorId: string | null
      readonly targetId: string
    }

export type RefreshEvent =
  | {
      /** Every ordinary refresh. Not audited: a second write would double its cost. */
      readonly type: 'refresh.rotated'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** A caller got a token of the current generation for one just retired: a second tab, a
       * lost reply, or somebody following the family. */
      readonly type: 'refresh.reissued'
      readonly userId: string
      readonly sessionId: string
      readonly generation: number
    }
  | {
      /** `storeRolledBack`: a token newer than its row; the store was restored from an older
       * copy. */
      readonly type: 'refresh.replayDetected' | 'refresh.storeRolledBack'
      readonly userId: string
      readonly sessionId: string
      readonly presentedGeneration: number
      readonly currentGeneration: number
    }
