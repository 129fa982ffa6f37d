import type { Plant } from './plant.js'

/** The tests that notice when a guard is gone. Every guard that `findGuards` finds is here or in `unproved`. */
export const guardTests: Readonly<Record<string, Plant['tests']>> = {
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
  'domain/accounts/account-deletions users: sessionEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/accounts/account-deletions users: credentialEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/accounts/account-deletions users: deviceEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/accounts/account-deletions accountDeletions: deletedAt': [
    'test/contract/accounts/deletion-races.test.ts',
    'test/contract/accounts/account-deletion.test.ts',
    'test/security/intents/intents.test.ts',
  ],
  'domain/accounts/email-change users: credentialEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/factors/factor-enrollment users: deviceEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/factors/factor-enrollment users: ...closing.guard': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/factors/factor-enrollment users: deviceEpoch (2)': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/factors/raise-device-epoch users: deviceEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/factors/raise-device-epoch users: sessionEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/passwords/password-writer users: credentialEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/passwords/password-writer users: sessionEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/passwords/password-writer users: deviceEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/passwords/password-writer users: enabled': ['test/security/overtaken/overtaken.test.ts'],
  'domain/sessions/raise-session-epoch users: sessionEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
  'domain/sessions/raise-session-epoch users: deviceEpoch': [
    'test/security/overtaken/overtaken.test.ts',
  ],
}

/**
 * Guards without a test that names them here. To take one from this list, find or write a test that fails by an assertion
 * when the guard is gone, and show it with `npm run planted -- --name 'without <id>'`.
 */
export const unproved: readonly string[] = [
  'http/admission/admission-steps bodyArrival',
  'http/admission/admission-steps stepUp',
  'http/admission/admission-steps inputForm',
  'domain/accounts/account-deletions accountDeletions: expiresAt',
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
  'domain/factors/totp-enrollment totpFactors: expiresAt',
  'domain/factors/totp-factors totpFactors: confirmed',
  'domain/factors/totp-factors totpFactors: sealedSecret',
  'domain/factors/totp-factors totpFactors: lastStep',
  'domain/factors/totp-factors totpFactors: confirmed (2)',
  'domain/factors/totp-reencryption totpFactors: confirmed',
  'domain/factors/totp-reencryption totpFactors: sealedSecret',
  'domain/factors/trusted-devices trustedDevices: deviceEpoch',
  'domain/intents/link-offers linkOffers: sessionId',
  'domain/intents/login-intents loginTickets: attempts',
  'domain/intents/mailed-intents tickets: secretHash',
  'domain/intents/oauth-codes oauthCodes: codeChallenge',
  'domain/intents/oauth-codes oauthCodes: replayedAt',
  'domain/intents/oauth-codes oauthCodes: codeChallenge (2)',
  'domain/intents/oauth-codes oauthCodes: redeemedAt',
  'domain/intents/oauth-codes oauthCodes: replayedAt (2)',
  'domain/login/known-logins knownLogins: userId',
  'domain/login/known-logins knownLogins: loginAt',
  'domain/oauth/oauth-identities oauthIdentities: removingBy',
  'domain/oauth/oauth-identities oauthIdentities: removingBy (2)',
  'domain/oauth/oauth-identities oauthIdentities: userId',
  'domain/oauth/oauth-identities oauthIdentities: linkedAt',
  'domain/passkeys/passkey-assertions passkeys: counter',
  'domain/passkeys/passkey-assertions passkeys: userId',
  'domain/passkeys/passkey-assertions passkeys: publicKey',
  'domain/passkeys/passkey-registration passkeys: userId',
  'domain/passkeys/passkey-registration passkeys: expiresAt',
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
  'domain/sessions/sessions users: ...(skipped === null ? {} : { deviceEpoch })',
]
