import {
  type FamilyState,
  judgeRefresh,
  type Presented,
  type RefreshDecision,
  type RefreshPolicy,
} from '../../src/engine/refresh-rules.js'
import { decisionTree, type Input } from './spin/decision-tree.js'

export type Judge = (
  family: FamilyState,
  presented: Presented,
  policy: RefreshPolicy,
  now: number,
) => RefreshDecision

/** The decisions that the model can come to; a store that loses rows or goes back is no part of it. */
export const verdicts = [
  ...['current', 'alreadyRotated', 'reissue', 'revoked'],
  ...['replay', 'expired', 'outdated', 'maxAge'],
] as const

const graceMs = 10_000
const capMs = 100_000
const now = 1_000_000

/** What one holder's request shows, as expressions over the model's variables. */
const inputsOf = (holder: number): readonly Input[] => [
  { expression: 'revoked', values: [0, 1] },
  { expression: `(winner == ${holder + 1})`, values: [0, 1] },
  { expression: `behind${holder}`, values: [0, 1, 2] },
  { expression: 'strict', values: [0, 1] },
  { expression: 'elapsed', values: [0, 1, 2] },
  { expression: `(held${holder} <= noReissueUpTo)`, values: [0, 1] },
  { expression: 'idle', values: [0, 1] },
  { expression: `epochHolds${holder}`, values: [0, 1] },
  { expression: 'capped', values: [0, 1] },
]

/** `judgeRefresh` itself, asked about every situation a holder's request can meet. */
export function refreshVerdict(holder: number, judge: Judge = judgeRefresh): string {
  return decisionTree(inputsOf(holder), (values) => {
    const [revoked, own, behind = 0, strict, elapsed = 0, barred, idle, epochHolds, capped] = values
    const generation = 5
    const family = {
      loginAt: now - capMs - (capped === 1 ? 1 : 0),
      sessionEpoch: 1,
      generation,
      // One step of the model's time is the whole grace.
      rotatedAt: now - elapsed * graceMs,
      rotatedTo: own === 1 ? 'own' : 'other',
      expiresAt: idle === 1 ? now : now + 1,
      revokedAt: revoked === 1 ? now : null,
      revokedReason: null,
      delivery: 'cookie' as const,
      noReissueUpTo: barred === 1 ? generation - behind : generation - behind - 1,
    }
    const presented = {
      generation: generation - behind,
      nextJti: 'own',
      requiredEpoch: epochHolds === 1 ? 1 : 2,
      delivery: 'cookie' as const,
    }
    const policy = { graceMs: strict === 1 ? 0 : graceMs, absoluteTtlMs: capMs }
    return verdictName(judge(family, presented, policy, now).outcome)
  })
}

/** The verdict's name in the model, where `revoked` is a variable. */
export const verdictName = (outcome: string): string => `judged_${outcome}`
