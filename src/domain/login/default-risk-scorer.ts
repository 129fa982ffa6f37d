import { scoreLogin } from '../../engine/login-risk-rules.js'
import type { RiskScorer } from '../../ports/risk-scorers.js'

/** What judges logins where the host has no scorer of its own. */
export const defaultRiskScorer: RiskScorer = {
  assess: async (question) => scoreLogin(question),
}
