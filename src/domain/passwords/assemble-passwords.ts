import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentServices } from '../intents/assemble-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailServices } from '../mail/assemble-mail.js'
import type { Sessions } from '../sessions/sessions.js'
import type { BreachCheck } from './breach-check.js'
import { createOwnerProof, type OwnerProof } from './owner-proof.js'
import { createPasswordCheck, type PasswordCheck } from './password-check.js'
import type { PasswordHashes } from './password-hashes.js'
import { createPasswordRecovery, type PasswordRecovery } from './password-recovery.js'
import { createPasswordRules, type PasswordRules } from './password-rules.js'
import { createPasswordWriter, type PasswordWriter } from './password-writer.js'

/** What both surfaces share: hashes are made by one gate, and words forbidden to all. */
export interface SharedPasswordServices {
  readonly passwords: PasswordHashes
  readonly breachCheck: BreachCheck
  /** Resolves with the test for common passwords. Loads them at the first call. */
  readonly commonPasswords: () => Promise<(password: string) => boolean>
  readonly contextWords: readonly string[]
}

export interface PasswordServices {
  readonly ownerProof: OwnerProof
  readonly passwordRules: PasswordRules
  readonly passwordCheck: PasswordCheck
  readonly passwordWriter: PasswordWriter
  readonly passwordRecovery: PasswordRecovery
}

interface Collaborators
  extends SharedPasswordServices,
    MailServices,
    Pick<IntentServices, 'judge' | 'mailedIntents'> {
  readonly limits: RateLimiter
  readonly sessions: Sessions
}

export function assemblePasswords(
  context: SurfaceContext,
  collaborators: Collaborators,
): PasswordServices {
  const deps = { ...context, ...collaborators }
  const passwordRules = createPasswordRules(deps)
  const passwordCheck = createPasswordCheck(deps)
  const passwordWriter = createPasswordWriter({ ...deps, passwordRules })
  const ownerProof = createOwnerProof({ ...deps, passwordRules })
  return {
    ownerProof,
    passwordRules,
    passwordCheck,
    passwordWriter,
    passwordRecovery: createPasswordRecovery(deps, {
      ...collaborators,
      ownerProof,
      passwordCheck,
      passwordWriter,
    }),
  }
}
