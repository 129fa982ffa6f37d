import type { TokenMemo } from '../../crypto/token-memo.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import {
  type AllSessionsTermination,
  createAllSessionsTermination,
} from './all-sessions-termination.js'
import { createLogout, type Logout } from './logout.js'
import { createOwnSessions, type OwnSessions } from './own-sessions.js'
import { createRefresh, type Refresh } from './refresh.js'
import { createRefreshInspection } from './refresh-inspection.js'
import {
  createSessionAdministration,
  type SessionAdministration,
} from './session-administration.js'
import { createSessionList } from './session-list.js'
import { createSessions, type Sessions } from './sessions.js'
import type { SigningKeys } from './signing-keys.js'
import { createTokens, type Tokens } from './tokens.js'

export interface SessionServices {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly refresh: Refresh
  readonly logout: Logout
  readonly ownSessions: OwnSessions
  readonly sessionAdministration: SessionAdministration
  readonly allSessions: AllSessionsTermination
}

interface Collaborators {
  readonly keys: SigningKeys
  readonly tokenMemo: TokenMemo
  readonly limits: RateLimiter
}

export function assembleSessions(
  context: SurfaceContext,
  collaborators: Collaborators,
): SessionServices {
  const deps = { ...context, ...collaborators }
  const tokens = createTokens({ ...deps, memo: collaborators.tokenMemo })
  const sessions = createSessions(deps, tokens)
  const sessionList = createSessionList(deps)
  const inspection = createRefreshInspection(deps, tokens, sessions)
  return {
    tokens,
    sessions,
    refresh: createRefresh(deps, tokens, inspection),
    logout: createLogout(deps, { tokens, sessions, inspection }),
    ownSessions: createOwnSessions(deps, sessions, sessionList),
    sessionAdministration: createSessionAdministration(deps, sessions, sessionList),
    allSessions: createAllSessionsTermination(deps, sessions),
  }
}
