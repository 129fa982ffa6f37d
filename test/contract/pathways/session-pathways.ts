import { pageThatOpens, refreshCookie, refreshToken } from '../../flows/session-flows.js'
import type { Pathway } from './pathway.js'

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

export const sessionPathways: readonly Pathway[] = [
  { flow: refreshToken, cells: sessionCells },
  { flow: refreshCookie, cells: { ...sessionCells, 'the other surface': '401' } },
  { flow: pageThatOpens, cells: { ...sessionCells, 'the other surface': '401' } },
]
