import type { EnrolledFactors } from '../../engine/factors.js'
import type { Collections } from '../../model/collections.js'
import type { PastLogin } from '../../ports/risk-scorers.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { LoginRisk } from './login-risk.js'

const lookedUp = Symbol('lookedUp')

/** What a user can show a second factor with, and their past logins, as they were read here. */
export interface FactorsOfUser {
  readonly [lookedUp]: EnrolledFactors
  readonly history: readonly PastLogin[]
  readonly userId: string
}

export async function lookUpFactors(
  collections: Collections,
  risk: LoginRisk,
  userId: string,
): Promise<FactorsOfUser> {
  const [enrolled, history] = await Promise.all([
    enrolledFactors(collections, userId),
    risk.historyOf(userId),
  ])
  return { [lookedUp]: enrolled, history, userId }
}

export function enrolledOf(factors: FactorsOfUser): EnrolledFactors {
  return factors[lookedUp]
}
