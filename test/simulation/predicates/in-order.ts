import type { Predicate } from './judged.js'

/**
 * I17: the row of a session is revoked once the session is listed and not before: its access tokens would go on where an
 * ending stopped in between, and no refresh would tell.
 */
export const inOrder: Predicate = ({ endings }) => {
  const denied = new Set<string>()
  const violations: string[] = []
  let premises = 0
  for (const { kind, session } of endings) {
    if (kind === 'deny') {
      denied.add(session)
    } else {
      premises += 1
      if (!denied.has(session)) violations.push(`${session} is revoked and not listed`)
    }
  }
  return { premises, violations }
}
