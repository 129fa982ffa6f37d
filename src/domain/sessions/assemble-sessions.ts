import { onceLoaded } from '../../concurrency/promises.js'
import type { TokenMemo } from '../../crypto/memos.js'
import { loadPart } from '../../errors/index.js'
import type { SessionRiskScorer } from '../../ports/risk-scorers.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { AllSessionsTermination } from './all-sessions-termination.js'
import { createLogout, type Logout } from './logout.js'
import { createOwnSessions, type OwnSessions } from './own-sessions.js'
import { createRefresh, type Refresh } from './refresh.js'
import { createRefreshInspection } from './refresh-inspection.js'
import { createRefreshReading } from './refresh-reading.js'
import {
  createSessionAdministration,
  type SessionAdministration,
} from './session-administration.js'
import { createSessionList } from './session-list.js'
import type { SessionLook } from './session-look.js'
import { createSessionViews } from './session-views.js'
import { createSessions, type Sessions } from './sessions.js'
import type { SigningKeys } from './signing-keys.js'
import { createTokens, type Tokens } from './tokens.js'

export interface SessionServices {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly refresh: Refresh
  readonly logout: Logout
  readonly sessionLook: () => Promise<SessionLook>
  readonly ownSessions: OwnSessions
  readonly sessionAdministration: SessionAdministration
  readonly allSessions: AllSessionsTermination
}

interface Collaborators {
  readonly keys: SigningKeys
  readonly tokenMemo: TokenMemo
  readonly limits: RateLimiter
  readonly sessionRiskScorer: SessionRiskScorer | null
}

export function assembleSessions(
  context: SurfaceContext,
  collaborators: Collaborators,
): SessionServices {
  const { sessionRiskScorer: scorer } = collaborators
  const deps = { ...context, ...collaborators, marksPlaces: scorer !== null }
  const tokens = createTokens({ ...deps, memo: collaborators.tokenMemo })
  const sessions = createSessions(deps, tokens)
  const sessionList = createSessionList(deps)
  const reading = createRefreshReading(deps, tokens)
  const inspection = createRefreshInspection(deps, reading, sessions)
  const views = createSessionViews(deps)
  const risk =
    scorer &&
    onceLoaded(async () => {
      const load = () => import('./refresh-risk.js')
      const { createRefreshRisk } = await loadPart('the risk of sessions', load)
      return createRefreshRisk({ ...deps, scorer }, reading, sessions)
    })
  return {
    tokens,
    sessions,
    refresh: createRefresh({ ...deps, views, risk }, tokens, inspection),
    logout: createLogout(deps, { tokens, sessions, inspection }),
    async sessionLook() {
      const { createSessionLook } = await loadPart('sessionOf', () => import('./session-look.js'))
      return createSessionLook({ ...deps, views, risk }, tokens, reading)
    },
    ownSessions: createOwnSessions(deps, sessions, sessionList),
    sessionAdministration: createSessionAdministration(deps, sessions, sessionList),
    allSessions: {
      // After a breach, or a backup that was restored: hardly any process ever does.
      async terminateAll(issuedBefore, act) {
        const load = () => import('./all-sessions-termination.js')
        const { createAllSessionsTermination } = await loadPart('the end of all sessions', load)
        return createAllSessionsTermination(deps, sessions).terminateAll(issuedBefore, act)
      },
    },
  }
}
