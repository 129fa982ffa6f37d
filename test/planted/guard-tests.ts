import type { Plant } from './plant.js'

type Tests = Readonly<Record<string, Plant['tests']>>

/** What `findGuards` calls the guards of a line: `move users: enabled, kind` are two, one for each key. */
function idsOf(line: string): readonly string[] {
  const [write = '', keys] = line.split(': ')
  return keys === undefined ? [write] : keys.split(', ').map((key) => `${write}: ${key}`)
}

/** The guards that some tests notice. */
const by = (tests: string | Plant['tests'], lines: readonly string[]): Tests =>
  Object.fromEntries(
    lines.flatMap(idsOf).map((id) => [id, typeof tests === 'string' ? [tests] : tests]),
  )

/** The tests that notice when a guard is gone. Every guard that `findGuards` finds is here. */
export const guardTests: Tests = {
  ...by('test/adapters/stores/collection-ports.test.ts', [
    'collectionCounter collection: hits, expiresAt',
    'collectionDenylist collection: expiresAt',
  ]),
  ...by('test/contract/accounts/deletion-notes.test.ts', [
    'resumeOne accountDeletions taken: expiresAt, ...claim, actorId',
  ]),
  ...by(
    [
      'test/contract/accounts/deletion-races.test.ts',
      'test/contract/accounts/account-deletion.test.ts',
      'test/security/intents/intents.test.ts',
    ],
    ['finish accountDeletions: deletedAt'],
  ),
  ...by('test/contract/accounts/import-races.test.ts', [
    'giveUp users taken: importState, enabled, deletingAt',
    'complete users: deletingAt',
    'withoutUnfinished users taken: importState',
  ]),
  ...by('test/contract/authorization/permissions-of-routes.test.ts', ['permission']),
  ...by('test/contract/config/judged-activation.test.ts', [
    'writeActive modules: revision',
    'writeMarked environments: revision, activation, activation (2)',
    'withdrawActivation modules: revision',
    'writeOrExplain environments: activation',
  ]),
  ...by('test/contract/config/secrets-and-history.test.ts', [
    'writeOrExplain environments: revision',
  ]),
  ...by('test/contract/factors/devices.test.ts', ['revokeDevice trustedDevices taken: userId']),
  ...by('test/contract/factors/factor-races.test.ts', [
    'isStored backupCodes taken: setId',
    'confirmTotpEnrollment totpFactors taken: enrollmentId',
    'passkeys/takeBack passkeys taken: enrollmentId',
  ]),
  ...by('test/contract/factors/late-backup-codes.test.ts', [
    'beginTotp backupCodes taken: setId',
    'store backupCodes taken: setId',
  ]),
  ...by('test/contract/factors/mfa-reset.test.ts', ['stepUp']),
  ...by('test/contract/factors/untold-factors.test.ts', [
    'move totpFactors: enrollmentId',
    'takeBack totpFactors taken: enrollmentId',
    'move passkeys: enrollmentId',
    'factors/takeBack passkeys taken: enrollmentId',
  ]),
  ...by('test/contract/http/edge-uploads.test.ts', ['bodyArrival']),
  ...by('test/contract/oauth/navigations.test.ts', ['askedNow']),
  ...by('test/contract/http/input-form.test.ts', ['inputForm']),
  ...by('test/contract/http/origin.test.ts', ['originCheck']),
  ...by('test/contract/http/protected-routes.test.ts', ['caller']),
  ...by('test/contract/limits/fair-limits.test.ts', ['sessionLimit']),
  ...by('test/contract/limits/limit-matrix.test.ts', ['addressLimit']),
  ...by('test/contract/login/mfa-login.test.ts', ['ticket']),
  ...by('test/contract/passkeys/passkey-step-up.test.ts', [
    'spendChallenge challenges taken: boundTo',
  ]),
  ...by('test/contract/service-accounts/cut-off-changes.test.ts', [
    'withoutUnfinished users taken: enabled',
    'enable users: credentialEpoch',
  ]),
  ...by('test/contract/service-accounts/service-account-guards.test.ts', [
    'end serviceCredentials: status',
  ]),
  ...by(
    [
      'test/contract/service-accounts/service-account-guards.test.ts',
      'test/contract/factors/mfa-reset.test.ts',
    ],
    ['target'],
  ),
  ...by('test/contract/service-accounts/service-account-races.test.ts', [
    'noteUse serviceCredentials: status',
  ]),
  ...by('test/contract/service-accounts/service-accounts.test.ts', [
    'end serviceCredentials: accountId',
  ]),
  ...by('test/contract/service-accounts/service-grant-cost.test.ts', [
    'upgrade serviceCredentials: secretHash',
  ]),
  ...by('test/contract/service-accounts/service-principals.test.ts', ['humanSession']),
  ...by('test/domain/authorization/roles.test.ts', [
    'tryAdd roleBindings taken: pendingSince',
    'complete roleBindings: pendingSince',
    'tryWrite roles: revision',
  ]),
  ...by('test/domain/configuration/needs-restart.test.ts', ['write modules: revision']),
  ...by('test/domain/events/webhooks.test.ts', ['attempt deliveries: attempts']),
  ...by('test/domain/intents/mailed-intents.test.ts', [
    'takeMailedTicket intents taken: secretHash',
  ]),
  ...by('test/domain/intents/kinds.test.ts', [
    'endFirst challenges: kind',
    'redeemOauthCode challenges: kind',
    'spendChallenge challenges taken: kind',
    'spendPasswordlessChallenge challenges taken: kind',
  ]),
  ...by('test/domain/login/known-logins.test.ts', ['rememberLogin knownLogins taken: loginAt']),
  ...by('test/domain/oauth/oauth-identities.test.ts', [
    'tryToRemove oauthIdentities taken: removingBy, removingBy (2)',
    'takeAbandonedIdentity oauthIdentities taken: linkedAt, removingBy',
    'takeBackIdentity oauthIdentities taken: linkedAt',
  ]),
  ...by('test/contract/oauth/attacks.test.ts', ['takeFlow challenges: attempts']),
  ...by('test/security/overtaken/accounts-overtaken.test.ts', [
    'note accountDeletions: expiresAt',
    'putTotp totpFactors: lastStep',
    'complete users: importState, enabled',
    'judge users: updatedAt, deletingAt',
    'resumeOne accountDeletions: expiresAt, expiresAt (2)',
    'move users: sessionEpoch, deviceEpoch, enabled, kind',
    'keep users: emailVerifiedAt, ...epochs, email, enabled, kind',
    'strip collection: keyHash',
    'renameUser users: enabled',
  ]),
  ...by('test/security/overtaken/factors-overtaken.test.ts', [
    'takePasskeys passkeys taken: userId',
    'keepEnrolledFactor passkeys: enrollmentId',
    'keepEnrolledFactor totpFactors: enrollmentId',
    'mark backupCodes: setId, usedMask',
    'replaceBackupCodes backupCodes: setId, usedMask',
    'trustThisDevice sessions: active',
    'move totpFactors: expiresAt, confirmed, sealedSecret',
    'move passkeys: expiresAt',
    'claim users: credentialEpoch, enabled, kind',
    'settleEnrollment users: credentialEpoch, enabled',
    'mark totpFactors: confirmed',
    'unmark totpFactors: removingBy',
    'take totpFactors taken: confirmed, removingBy',
    'mark passkeys: userId',
    'unmark passkeys: removingBy',
    'take passkeys taken: userId, removingBy',
    'store stepUpProofs: provedAt, deviceEpoch',
    'confirmTotpEnrollment totpFactors: enrollmentId, expiresAt',
    'confirmTotp totpFactors: confirmed, sealedSecret, lastStep',
    'replacePending totpFactors: confirmed',
    'noteUse trustedDevices: deviceEpoch',
    'advance passkeys: counter, userId, publicKey',
    'mark passkeys: enrollmentId',
    'told passkeys: userId, expiresAt',
  ]),
  ...by('test/security/overtaken/intents-overtaken.test.ts', [
    'move challenges: attempts',
    'put intents: secretHash',
    'endFirst challenges: boundTo, attempts',
    'redeemOauthCode challenges: boundTo, attempts',
    'bindOauthCode challenges: attempts',
    'spendChallenge challenges taken: userId, deviceEpoch, credentialEpoch',
    'tryToRemove oauthIdentities: userId, removingBy, removingBy (2)',
    'takeAbandonedIdentity oauthIdentities taken: userId',
    'settleIdentity oauthIdentities: removingBy',
    'takeBackIdentity oauthIdentities taken: userId',
    'renewIdentity oauthIdentities: userId, linkedAt',
  ]),
  ...by('test/contract/sessions/late-rotation.test.ts', ['consume families: ...granted']),
  ...by('test/security/overtaken/overtaken.test.ts', [
    'disableForDeletion users: sessionEpoch, credentialEpoch, deviceEpoch',
    'move users: credentialEpoch',
    'claim users: deviceEpoch, ...closing.guard',
    'settleEnrollment users: deviceEpoch',
    'raiseDeviceEpoch users: deviceEpoch, sessionEpoch',
    'replace users: credentialEpoch, sessionEpoch, deviceEpoch, enabled',
    'raiseSessionEpoch users: sessionEpoch, deviceEpoch',
  ]),
  ...by('test/security/overtaken/re-authentication-overtaken.test.ts', [
    'disableForDeletion users: updatedAt',
  ]),
  ...by('test/security/overtaken/sessions-overtaken.test.ts', [
    'write knownLogins: userId, loginAt',
    'upgrade users: passwordHash',
    'rememberPassword passwordHistories: revision',
    'raise users: sessionEpoch, credentialEpoch, deviceEpoch',
    'barReissues families: userId, generation, revokedAt',
    'consume families: userId, ...rotation',
    'noteServed families: generation, shown',
    'revoke families: revokedAt',
    'closeDocument sessions: active',
    'openSession users: sessionEpoch, enabled, ...factors',
  ]),
  ...by('test/security/owner-proof.test.ts', ['renameUser users: emailVerifiedAt']),
}

/** Conditions without which the write does the same: an account that is disabled stays disabled, an id names its revision, and a session that has ended is not served. */
export const withoutDifference: readonly string[] = [
  'close users: enabled',
  'forgetRemoved revisions: revision',
  'noteServed families: revokedAt',
  'remember challenges: attempts',
]
