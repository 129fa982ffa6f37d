import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { Reencryption } from '../configuration/reencryption.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { SuspicionNotices } from '../mail/assemble-mail.js'
import type { MailService } from '../mail/mail-service.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { Sessions } from '../sessions/sessions.js'
import { createBackupCodeSets } from './backup-code-sets.js'
import { type CodeVerification, createCodeVerification } from './code-verification.js'
import { createDeviceTrust, type DeviceTrust } from './device-trust.js'
import type { EnrollmentNotices } from './enrollment-notices.js'
import { createFactorChanges, type FactorChanges } from './factor-changes.js'
import type { FactorEnrollment } from './factor-enrollment.js'
import type { FactorRemoval } from './factor-removal.js'
import { createOwnFactors, type OwnFactors } from './own-factors.js'
import { createReAuthentication, type ReAuthentication } from './re-authentication.js'
import { createStepUp, type StepUp } from './step-up.js'
import type { TotpEnrollment } from './totp-enrollment.js'
import { createTotpFactors } from './totp-factors.js'
import { createTrustedDevices, type TrustedDevices } from './trusted-devices.js'

export interface FactorServices {
  readonly changes: FactorChanges
  readonly codeVerification: CodeVerification
  readonly devices: TrustedDevices
  readonly enrollment: FactorEnrollment
  readonly deviceTrust: DeviceTrust
  readonly notices: EnrollmentNotices
  readonly ownFactors: OwnFactors
  readonly reAuthentication: ReAuthentication
  readonly removal: FactorRemoval
  readonly stepUp: StepUp
  readonly totpEnrollment: TotpEnrollment
  readonly reencryptTotp: () => Promise<Reencryption>
}

interface Collaborators {
  readonly judge: IntentJudge
  readonly limits: RateLimiter
  readonly mail: MailService
  readonly suspicions: SuspicionNotices
  readonly passwordCheck: PasswordCheck
  readonly passwords: PasswordHashes
  readonly sessions: Sessions
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
  const changes = createFactorChanges(deps)
  const codeVerification = createCodeVerification(deps, totpFactors, backupCodeSets)
  const removals = onceLoaded(async () => {
    const load = () => import('./factor-removal.js')
    const { createFactorRemoval } = await loadPart('the removal of factors', load)
    return createFactorRemoval(deps, changes)
  })
  const removal: FactorRemoval = {
    removeTotp: async (...of) => (await removals()).removeTotp(...of),
    removePasskey: async (...of) => (await removals()).removePasskey(...of),
  }
  const enrollments = onceLoaded(async () => {
    const load = () => import('./factor-enrollment.js')
    const { createFactorEnrollment } = await loadPart('enrolments', load)
    return createFactorEnrollment(deps)
  })
  const enrollment: FactorEnrollment = {
    enroll: async (...of) => (await enrollments()).enroll(...of),
    settle: async (...of) => (await enrollments()).settle(...of),
  }
  // For the process that sweeps.
  const notices = onceLoaded(async () => {
    const load = () => import('./enrollment-notices.js')
    const { createEnrollmentNotices } = await loadPart('the sweep of factors', load)
    return createEnrollmentNotices(deps, enrollment, changes)
  })
  const services = {
    ...{ backupCodeSets, changes, codeVerification, enrollment, removal, stepUp, totpFactors },
    judge: collaborators.judge,
  }
  return {
    changes,
    codeVerification,
    devices,
    enrollment,
    deviceTrust: createDeviceTrust(deps, devices),
    notices: { resume: async () => (await notices()).resume() },
    ownFactors: createOwnFactors(deps, services),
    reAuthentication: createReAuthentication(deps, stepUp, collaborators.passwordCheck),
    removal,
    stepUp,
    totpEnrollment: totpEnrollmentWhenUsed(
      onceLoaded(async () => {
        const load = () => import('./totp-enrollment.js')
        const { createTotpEnrollment } = await loadPart('the enrolment of apps', load)
        return createTotpEnrollment(deps, services)
      }),
    ),
    async reencryptTotp() {
      const load = () => import('./totp-reencryption.js')
      const { createTotpReencryption } = await loadPart('re-encryption of apps', load)
      return createTotpReencryption(deps)()
    },
  }
}

/** People enrol an authenticator app once. */
function totpEnrollmentWhenUsed(load: () => Promise<TotpEnrollment>): TotpEnrollment {
  return {
    terms: async () => (await load()).terms(),
    begin: async (...given) => (await load()).begin(...given),
    confirm: async (...given) => (await load()).confirm(...given),
    finish: async (...given) => (await load()).finish(...given),
  }
}
