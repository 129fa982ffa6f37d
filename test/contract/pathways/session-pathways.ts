import { pageThatOpens, refreshCookie, refreshToken } from '../../flows/session-flows.js'
import type { Pathway, Strength } from './pathway.js'

/** What a session was opened with is not asked for again; who may not have one has none any more. */
const sessionCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 session_revoked',
  'a service principal': '401 refresh_token_invalid',
  'an unverified address': 'tokens',
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '401 audience_mismatch',
}

/** The login of these sessions was one by a password. */
const bySession: Strength = {
  shows: 'the refresh token of a session',
  factors: null,
  resistsPhishing: 'as the session',
  aal: null,
  amr: ['pwd'],
}

export const sessionPathways: readonly Pathway[] = [
  { flow: refreshToken, strength: bySession, cells: sessionCells },
  {
    flow: refreshCookie,
    strength: bySession,
    cells: { ...sessionCells, 'the other surface': '401' },
  },
  {
    flow: pageThatOpens,
    strength: bySession,
    cells: { ...sessionCells, 'the other surface': '401' },
  },
]
