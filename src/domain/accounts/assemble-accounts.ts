import { onceLoaded } from '../../concurrency/promises.js'
import { loadPart } from '../../errors/index.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorServices } from '../factors/assemble-factors.js'
import type { IntentServices } from '../intents/assemble-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { LoginPipeline } from '../login/login-pipeline.js'
import type { MailServices } from '../mail/assemble-mail.js'
import type { OauthIdentities } from '../oauth/oauth-identities.js'
import type { PasswordServices } from '../passwords/assemble-passwords.js'
import type { PasswordHashes } from '../passwords/password-hashes.js'
import type { SessionServices } from '../sessions/assemble-sessions.js'
import type { AccountDeletions } from './account-deletions.js'
import type { EmailChange } from './email-change.js'
import type { MailboxConfirmation } from './mailbox-confirmation.js'
import type { MfaReset } from './mfa-reset.js'
import { createProfile, type Profile } from './profile.js'
import { createRegistration, type Registration } from './registration.js'
import { createRegistrationConfirmation } from './registration-confirmation.js'
import { createRegistrationMails } from './registration-mails.js'
import type { Registrations } from './registrations.js'
import { createSelfDeletion, type SelfDeletion } from './self-deletion.js'
import { createUsers, type Users } from './users.js'

export interface AccountServices {
  readonly deletions: AccountDeletions
  readonly emailChange: EmailChange
  readonly mfaReset: MfaReset
  readonly profile: Profile
  readonly registration: Registration
  readonly registrations: Registrations
  readonly selfDeletion: SelfDeletion
  readonly users: Users
}

interface Collaborators
  extends MailServices,
    PasswordServices,
    Pick<IntentServices, 'judge' | 'mailedIntents' | 'pendingRegistrations'>,
    Pick<FactorServices, 'changes' | 'reAuthentication'>,
    Pick<SessionServices, 'refresh' | 'sessions'> {
  readonly limits: RateLimiter
  readonly oauthIdentities: OauthIdentities
  readonly passwords: PasswordHashes
  readonly pipeline: LoginPipeline
}

export function assembleAccounts(
  context: SurfaceContext,
  collaborators: Collaborators,
): AccountServices {
  const deps = { ...context, ...collaborators }
  const { sessions, reAuthentication } = collaborators
  const mfaReset = mfaResetWhenUsed(
    onceLoaded(async () => {
      const load = () => import('./mfa-reset.js')
      const { createMfaReset } = await loadPart('resets of second factors', load)
      return createMfaReset(deps, sessions, collaborators.changes)
    }),
  )
  const deletions = deletionsWhenUsed(
    onceLoaded(async () => {
      const load = () => import('./account-deletions.js')
      const { createAccountDeletions } = await loadPart('deletions of accounts', load)
      return createAccountDeletions(deps, sessions)
    }),
  )
  const emailChange = emailChangeWhenUsed(
    onceLoaded(async () => {
      const load = () => import('./email-change.js')
      const { createEmailChange } = await loadPart('changes of address', load)
      return createEmailChange(deps, collaborators)
    }),
  )
  const confirmation = confirmationWhenUsed(
    onceLoaded(async () => {
      const load = () => import('./mailbox-confirmation.js')
      const { createMailboxConfirmation } = await loadPart('confirmations of addresses', load)
      return createMailboxConfirmation(deps, collaborators)
    }),
  )
  const mails = createRegistrationMails(deps)
  const beginnings = createRegistrationConfirmation(deps, { ...collaborators, mails })
  return {
    deletions,
    emailChange,
    mfaReset,
    profile: createProfile(deps, collaborators),
    registration: createRegistration(deps, {
      ...{ ...collaborators, emailChange, confirmation, beginnings, mails },
    }),
    registrations: registrationsWhenUsed(async () => {
      const load = () => import('./registrations.js')
      const { createRegistrations } = await loadPart('registrations in code', load)
      return createRegistrations(deps, { ...collaborators, mails })
    }),
    selfDeletion: createSelfDeletion(deps, deletions, reAuthentication),
    users: createUsers(deps, {
      ...{ sessions, mfaReset, deletions, recovery: collaborators.passwordRecovery },
    }),
  }
}

/** Few people ever lose their second factors. */
function mfaResetWhenUsed(load: () => Promise<MfaReset>): MfaReset {
  return {
    reset: async (...given) => (await load()).reset(...given),
  }
}

/** Few people ever delete their account, and one process looks after deletions. */
function deletionsWhenUsed(load: () => Promise<AccountDeletions>): AccountDeletions {
  return {
    delete: async (...given) => (await load()).delete(...given),
    resume: async () => (await load()).resume(),
  }
}

/** Most accounts begin with a proved address. */
function confirmationWhenUsed(load: () => Promise<MailboxConfirmation>): MailboxConfirmation {
  return {
    confirm: async (...given) => (await load()).confirm(...given),
  }
}

/** Few people ever change their address. */
function emailChangeWhenUsed(load: () => Promise<EmailChange>): EmailChange {
  return {
    request: async (...given) => (await load()).request(...given),
    confirm: async (...given) => (await load()).confirm(...given),
  }
}

/** Most processes serve requests alone, and never list registrations. */
function registrationsWhenUsed(load: () => Promise<Registrations>): Registrations {
  return {
    list: async (...given) => (await load()).list(...given),
    resend: async (...given) => (await load()).resend(...given),
    remove: async (...given) => (await load()).remove(...given),
  }
}
