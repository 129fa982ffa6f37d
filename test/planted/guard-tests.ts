import type { Plant } from './plant.js'

type Tests = Readonly<Record<string, Plant['tests']>>

/** The guards that one file of tests notices. */
const by = (file: string, ids: readonly string[]): Tests =>
  Object.fromEntries(ids.map((id) => [id, [file]]))

/** The tests that notice when a guard is gone. Every guard that `findGuards` finds is here. */
export const guardTests: Tests = {
  'http/admission/admission-steps addressLimit': ['test/contract/limits/limit-matrix.test.ts'],
  'http/admission/admission-steps originCheck': ['test/contract/http/origin.test.ts'],
  'http/admission/admission-steps caller': ['test/contract/http/protected-routes.test.ts'],
  'http/admission/admission-steps sessionLimit': ['test/contract/limits/fair-limits.test.ts'],
  'http/admission/admission-steps humanSession': [
    'test/contract/service-accounts/service-principals.test.ts',
  ],
  'http/admission/admission-steps permission': [
    'test/contract/authorization/permissions-of-routes.test.ts',
  ],
  'http/admission/admission-steps target': [
    'test/contract/service-accounts/service-account-guards.test.ts',
    'test/contract/factors/mfa-reset.test.ts',
  ],
  'http/admission/admission-steps ticket': ['test/contract/login/mfa-login.test.ts'],
  ...by('test/security/overtaken/re-authentication-overtaken.test.ts', [
    'domain/accounts/account-deletions users: updatedAt',
  ]),
  ...by('test/security/overtaken/accounts-overtaken.test.ts', [
    'domain/accounts/deletion-resumption users: updatedAt',
    'domain/accounts/deletion-resumption users: deletingAt',
  ]),
  'domain/accounts/account-import users: deletingAt': [
    'test/contract/accounts/import-races.test.ts',
  ],
  'domain/accounts/account-deletions accountDeletions: deletedAt': [
    'test/contract/accounts/deletion-races.test.ts',
    'test/contract/accounts/account-deletion.test.ts',
    'test/security/intents/intents.test.ts',
  ],
  'http/admission/admission-steps bodyArrival': ['test/contract/http/edge-uploads.test.ts'],
  'http/admission/admission-steps stepUp': ['test/contract/factors/mfa-reset.test.ts'],
  'http/admission/admission-steps inputForm': ['test/contract/http/input-form.test.ts'],
  ...by('test/security/overtaken/overtaken.test.ts', [
    'domain/accounts/account-deletions users: sessionEpoch',
    'domain/accounts/account-deletions users: credentialEpoch',
    'domain/accounts/account-deletions users: deviceEpoch',
    'domain/accounts/email-change users: credentialEpoch',
    'domain/factors/factor-enrollment users: deviceEpoch',
    'domain/factors/factor-enrollment users: ...closing.guard',
    'domain/factors/factor-enrollment users: deviceEpoch (2)',
    'domain/factors/raise-device-epoch users: deviceEpoch',
    'domain/factors/raise-device-epoch users: sessionEpoch',
    'domain/passwords/password-writer users: credentialEpoch',
    'domain/passwords/password-writer users: sessionEpoch',
    'domain/passwords/password-writer users: deviceEpoch',
    'domain/passwords/password-writer users: enabled',
    'domain/sessions/raise-session-epoch users: sessionEpoch',
    'domain/sessions/raise-session-epoch users: deviceEpoch',
  ]),
  ...by('test/security/overtaken/accounts-overtaken.test.ts', [
    'domain/accounts/account-deletions accountDeletions: expiresAt',
    'domain/accounts/account-import totpFactors: lastStep',
    'domain/accounts/account-import users: lastIntentId',
    'domain/accounts/account-import users: enabled',
    'domain/accounts/deletion-resumption accountDeletions: expiresAt',
    'domain/accounts/deletion-resumption accountDeletions: expiresAt (2)',
    'domain/accounts/email-change users: sessionEpoch',
    'domain/accounts/email-change users: deviceEpoch',
    'domain/accounts/email-change users: enabled',
    'domain/accounts/email-change users: kind',
    'domain/accounts/mailbox-confirmation users: emailVerifiedAt',
    'domain/accounts/mailbox-confirmation users: ...epochs',
    'domain/accounts/mailbox-confirmation users: email',
    'domain/accounts/mailbox-confirmation users: enabled',
    'domain/accounts/mailbox-confirmation users: kind',
    'domain/accounts/personal-data collection: keyHash',
    'domain/accounts/profile users: enabled',
  ]),
  ...by('test/security/overtaken/factors-overtaken.test.ts', [
    'domain/factors/backup-code-sets backupCodes: setId',
    'domain/factors/backup-code-sets backupCodes: usedMask',
    'domain/factors/backup-code-sets backupCodes: setId (2)',
    'domain/factors/backup-code-sets backupCodes: usedMask (2)',
    'domain/factors/device-trust sessions: active',
    'domain/factors/factor-enrollment users: credentialEpoch',
    'domain/factors/factor-enrollment users: enabled',
    'domain/factors/factor-enrollment users: kind',
    'domain/factors/factor-enrollment users: credentialEpoch (2)',
    'domain/factors/factor-enrollment users: enabled (2)',
    'domain/factors/factor-removal totpFactors: confirmed',
    'domain/factors/factor-removal totpFactors: removingBy',
    'domain/factors/factor-removal passkeys: userId',
    'domain/factors/factor-removal passkeys: removingBy',
    'domain/factors/step-up stepUpProofs: provedAt',
    'domain/factors/step-up stepUpProofs: deviceEpoch',
    'domain/factors/totp-enrollment totpFactors: enrollmentId',
    'domain/factors/totp-enrollment totpFactors: expiresAt',
    'domain/factors/totp-factors totpFactors: confirmed',
    'domain/factors/totp-factors totpFactors: sealedSecret',
    'domain/factors/totp-factors totpFactors: lastStep',
    'domain/factors/totp-factors totpFactors: confirmed (2)',
    'domain/factors/totp-reencryption totpFactors: confirmed',
    'domain/factors/totp-reencryption totpFactors: sealedSecret',
    'domain/factors/trusted-devices trustedDevices: deviceEpoch',
    'domain/passkeys/passkey-assertions passkeys: counter',
    'domain/passkeys/passkey-assertions passkeys: userId',
    'domain/passkeys/passkey-assertions passkeys: publicKey',
    'domain/passkeys/passkey-registration passkeys: enrollmentId',
    'domain/passkeys/passkey-registration passkeys: userId',
    'domain/passkeys/passkey-registration passkeys: expiresAt',
  ]),
  ...by('test/security/overtaken/intents-overtaken.test.ts', [
    'domain/intents/link-offers linkOffers: sessionId',
    'domain/intents/login-intents loginTickets: attempts',
    'domain/intents/mailed-intents tickets: secretHash',
    'domain/intents/oauth-codes oauthCodes: codeChallenge',
    'domain/intents/oauth-codes oauthCodes: replayedAt',
    'domain/intents/oauth-codes oauthCodes: codeChallenge (2)',
    'domain/intents/oauth-codes oauthCodes: redeemedAt',
    'domain/intents/oauth-codes oauthCodes: replayedAt (2)',
    'domain/oauth/oauth-identities oauthIdentities: removingBy',
    'domain/oauth/oauth-identities oauthIdentities: removingBy (2)',
    'domain/oauth/oauth-identities oauthIdentities: removingBy (3)',
    'domain/oauth/oauth-identities oauthIdentities: userId',
    'domain/oauth/oauth-identities oauthIdentities: userId (2)',
    'domain/oauth/oauth-identities oauthIdentities: linkedAt',
  ]),
  ...by('test/security/overtaken/sessions-overtaken.test.ts', [
    'domain/login/known-logins knownLogins: userId',
    'domain/login/known-logins knownLogins: loginAt',
    'domain/passwords/password-check users: passwordHash',
    'domain/passwords/password-rules passwordHistories: revision',
    'domain/sessions/all-sessions-termination users: sessionEpoch',
    'domain/sessions/all-sessions-termination users: credentialEpoch',
    'domain/sessions/all-sessions-termination users: deviceEpoch',
    'domain/sessions/bar-reissues families: userId',
    'domain/sessions/bar-reissues families: generation',
    'domain/sessions/bar-reissues families: revokedAt',
    'domain/sessions/refresh families: userId',
    'domain/sessions/refresh families: ...rotation',
    'domain/sessions/session-ending families: revokedAt',
    'domain/sessions/session-ending sessions: active',
    'domain/sessions/sessions users: sessionEpoch',
    'domain/sessions/sessions users: enabled',
    'domain/sessions/sessions users: ...factors',
  ]),
  ...by('test/adapters/stores/collection-ports.test.ts', [
    'adapters/stores/collection-counter collection: hits',
    'adapters/stores/collection-counter collection: expiresAt',
    'adapters/stores/collection-denylist collection: expiresAt',
  ]),
  ...by('test/contract/accounts/deletion-notes.test.ts', [
    'domain/accounts/deletion-resumption accountDeletions taken: expiresAt',
    'domain/accounts/deletion-resumption accountDeletions taken: ...claim',
    'domain/accounts/deletion-resumption accountDeletions taken: actorId',
  ]),
  ...by('test/contract/accounts/import-races.test.ts', [
    'domain/accounts/account-import users taken: lastIntentId',
    'domain/accounts/account-import users taken: enabled',
    'domain/accounts/account-import users taken: deletingAt',
    'domain/accounts/deletion-resumption users taken: lastIntentId',
  ]),
  ...by('test/contract/config/judged-activation.test.ts', [
    'domain/configuration/config-activation modules: revision',
    'domain/configuration/config-activation environments: revision',
    'domain/configuration/config-activation environments: activation',
    'domain/configuration/config-activation environments: activation (2)',
    'domain/configuration/config-writer modules: revision',
    'domain/configuration/config-writer environments: activation',
  ]),
  ...by('test/contract/config/secrets-and-history.test.ts', [
    'domain/configuration/config-writer environments: revision',
  ]),
  ...by('test/contract/factors/devices.test.ts', [
    'domain/factors/trusted-devices trustedDevices taken: userId',
  ]),
  ...by('test/contract/factors/factor-races.test.ts', [
    'domain/factors/totp-enrollment backupCodes taken: setId',
    'domain/factors/totp-enrollment totpFactors taken: enrollmentId',
    'domain/passkeys/passkey-registration passkeys taken: enrollmentId',
  ]),
  ...by('test/contract/factors/late-backup-codes.test.ts', [
    'domain/factors/totp-factors backupCodes taken: setId',
    'domain/passkeys/passkey-registration backupCodes taken: setId',
  ]),
  ...by('test/contract/factors/untold-factors.test.ts', [
    'domain/factors/enrollment-notices totpFactors taken: expiresAt',
    'domain/factors/enrollment-notices passkeys taken: expiresAt',
  ]),
  ...by('test/contract/oauth/link-offer-races.test.ts', [
    'domain/intents/link-offers linkOffers taken: sessionId',
  ]),
  ...by('test/contract/oauth/real-attacks.test.ts', [
    'domain/intents/oauth-flows oauthFlows taken: provider',
  ]),
  ...by('test/contract/passkeys/passkey-step-up.test.ts', [
    'domain/intents/passkey-challenges passkeyChallenges taken: ceremony',
    'domain/intents/passkey-challenges passkeyChallenges taken: boundTo',
  ]),
  ...by('test/contract/service-accounts/cut-off-changes.test.ts', [
    'domain/accounts/deletion-resumption users taken: enabled',
    'domain/service-accounts/service-accounts users: credentialEpoch',
  ]),
  ...by('test/contract/service-accounts/service-account-guards.test.ts', [
    'domain/service-accounts/service-credentials serviceCredentials: status',
  ]),
  ...by('test/contract/service-accounts/service-account-races.test.ts', [
    'domain/service-accounts/service-grants serviceCredentials: status',
  ]),
  ...by('test/contract/service-accounts/service-accounts.test.ts', [
    'domain/service-accounts/service-credentials serviceCredentials: accountId',
  ]),
  ...by('test/contract/service-accounts/service-grant-cost.test.ts', [
    'domain/service-accounts/service-grants serviceCredentials: secretHash',
  ]),
  ...by('test/domain/authorization/roles.test.ts', [
    'domain/authorization/role-bindings roleBindings taken: pendingSince',
    'domain/authorization/role-bindings roleBindings: pendingSince',
    'domain/authorization/roles roles: revision',
  ]),
  ...by('test/domain/configuration/needs-restart.test.ts', [
    'domain/configuration/process-roll modules: revision',
  ]),
  ...by('test/domain/events/webhooks.test.ts', ['domain/events/webhooks deliveries: attempts']),
  ...by('test/domain/intents/mailed-intents.test.ts', [
    'domain/intents/mailed-intents tickets taken: secretHash',
  ]),
  ...by('test/domain/login/known-logins.test.ts', [
    'domain/login/known-logins knownLogins taken: loginAt',
  ]),
  ...by('test/domain/oauth/oauth-identities.test.ts', [
    'domain/oauth/oauth-identities oauthIdentities taken: removingBy',
    'domain/oauth/oauth-identities oauthIdentities taken: removingBy (2)',
    'domain/oauth/oauth-identities oauthIdentities taken: removingBy (3)',
    'domain/oauth/oauth-identities oauthIdentities taken: linkedAt',
    'domain/oauth/oauth-identities oauthIdentities taken: linkedAt (2)',
  ]),
  ...by('test/security/advisories/matrix.test.ts', [
    'domain/intents/oauth-flows oauthFlows taken: browserHash',
  ]),
  ...by('test/security/overtaken/factors-overtaken.test.ts', [
    'domain/accounts/mfa-reset passkeys taken: userId',
    'domain/factors/enrollment-notices totpFactors: expiresAt',
    'domain/factors/enrollment-notices passkeys: expiresAt',
    'domain/factors/factor-removal totpFactors taken: confirmed',
    'domain/factors/factor-removal totpFactors taken: removingBy',
    'domain/factors/factor-removal passkeys taken: userId',
    'domain/factors/factor-removal passkeys taken: removingBy',
  ]),
  ...by('test/security/overtaken/intents-overtaken.test.ts', [
    'domain/intents/passkey-challenges passkeyChallenges taken: userId',
    'domain/intents/passkey-challenges passkeyChallenges taken: deviceEpoch',
    'domain/intents/passkey-challenges passkeyChallenges taken: credentialEpoch',
    'domain/oauth/oauth-identities oauthIdentities taken: userId',
    'domain/oauth/oauth-identities oauthIdentities taken: userId (2)',
  ]),
}

/** Conditions without which the write does the same: an account that is disabled stays disabled. */
export const withoutDifference: readonly string[] = [
  'domain/service-accounts/service-accounts users: enabled',
]
