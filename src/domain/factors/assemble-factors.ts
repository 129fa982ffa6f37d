import type { SurfaceContext } from '../context/surface-context.js'
import type { Lockout } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailService } from '../mail/mail-service.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import { type BackupCodeSets, createBackupCodeSets } from './backup-code-sets.js'
import { type CodeVerification, createCodeVerification } from './code-verification.js'
import { createDeviceTrust, type DeviceTrust } from './device-trust.js'
import { createFactorChanges, type FactorChanges } from './factor-changes.js'
import { createFactorRemoval, type FactorRemoval } from './factor-removal.js'
import { createReAuthentication, type ReAuthentication } from './re-authentication.js'
import { createStepUp, type StepUp } from './step-up.js'
import { createTotpFactors, type TotpFactors } from './totp-factors.js'
import { createTrustedDevices, type TrustedDevices } from './trusted-devices.js'

export interface FactorServices {
  readonly backupCodeSets: BackupCodeSets
  readonly changes: FactorChanges
  readonly codeVerification: CodeVerification
  readonly devices: TrustedDevices
  readonly deviceTrust: DeviceTrust
  readonly reAuthentication: ReAuthentication
  readonly removal: FactorRemoval
  readonly stepUp: StepUp
  readonly totpFactors: TotpFactors
}

interface Collaborators {
  readonly limits: RateLimiter
  readonly mail: MailService
  readonly passwordLockout: Lockout
  readonly passwords: PasswordHashes
}

export function assembleFactors(
  context: SurfaceContext,
  collaborators: Collaborators,
): FactorServices {
  const deps = { ...context, ...collaborators }
  const stepUp = createStepUp(deps)
  const devices = createTrustedDevices(deps)
  const totpFactors = createTotpFactors(deps)
  const backupCodeSets = createBackupCodeSets(deps)
  return {
    backupCodeSets,
    changes: createFactorChanges(deps),
    codeVerification: createCodeVerification(deps, totpFactors, backupCodeSets),
    devices,
    deviceTrust: createDeviceTrust(deps, devices),
    reAuthentication: createReAuthentication(deps, stepUp, collaborators.passwordLockout),
    removal: createFactorRemoval(deps),
    stepUp,
    totpFactors,
  }
}
