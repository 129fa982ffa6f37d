import type { PlantEntry } from './plant.js'

const intents = 'src/engine/intents.ts'

export const intentPlants: readonly PlantEntry[] = [
  {
    name: 'a login that waits for its second factor outlives every change of the account',
    file: intents,
    find: "hangsOn: ['credentials', 'sessions', 'factors', 'identity', 'loginMethod']",
    replace: "hangsOn: ['identity', 'loginMethod']",
    tests: ['test/contract/login/mfa-login.test.ts'],
  },
  {
    name: 'a login that waits is completed on a disabled account',
    file: intents,
    find: '!account.enabled || ',
    replace: '',
    tests: ['test/engine/intents.test.ts'],
  },
  {
    name: 'a link to reset the password outlives a change of address',
    file: intents,
    find: "hangsOn: ['credentials', 'address', 'password']",
    replace: "hangsOn: ['password']",
    tests: [
      'test/domain/intents/mailed-intents.test.ts',
      'test/contract/passwords/recovery.test.ts',
    ],
  },
  {
    name: 'an account at a provider is linked without the proof that linking asks for',
    file: 'src/domain/oauth/oauth-sign-in.ts',
    find: 'await prepareLink(ctx, who, named.id, currentPassword, source)',
    replace: '',
    tests: ['test/contract/oauth/links.test.ts'],
  },
  {
    name: 'a link that lost its right while it was made stays',
    file: 'src/domain/oauth/oauth-links.ts',
    find: 'const mayStand = await isGoodOauthFlow(ctx, intent)',
    replace: 'const mayStand = true',
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a link that lost its right just before it was settled stays',
    file: 'src/domain/oauth/oauth-links.ts',
    find: 'isSettled && (await isGoodOauthFlow(ctx, intent))',
    replace: 'isSettled',
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a link stands where the account cannot be looked at once more',
    file: 'src/domain/oauth/oauth-links.ts',
    find: '} finally {\n    if (!stands && begun !== null) await takeBackIdentity(ctx, begun)\n  }',
    replace: '} finally {\n  }',
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'what a stranger planted stays open where the first sign-in of the owner was cut off',
    file: 'src/domain/oauth/oauth-accounts.ts',
    find: "await endAllSessions(ctx, proved.id, 'password_change', source)",
    replace:
      "if (verdict === 'prove') await endAllSessions(ctx, proved.id, 'password_change', source)",
    tests: ['test/security/owner-proof.test.ts'],
  },
  {
    name: 'a link opens the account before it is settled',
    file: 'src/domain/oauth/oauth-accounts.ts',
    find: 'known !== null && isBeingLinked(known)',
    replace: 'known !== null && isBeingLinked(known) && known.id === ""',
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a guess that comes between makes a longer lockout short',
    file: 'src/domain/limits/rate-limiter.ts',
    find: 'let left = tries; ; left -= 1',
    replace: 'let left = 1; ; left -= 1',
    tests: ['test/domain/limits/closed-windows.test.ts'],
  },
  {
    name: 'the token for a password that is too old proves the mailbox',
    file: 'src/domain/passwords/password-writer.ts',
    find: 'if (isMailed(intent) && user.emailVerifiedAt === null)',
    replace: 'if (user.emailVerifiedAt === null)',
    tests: ['test/security/owner-proof.test.ts'],
  },
  {
    name: 'a challenge of one ceremony with a passkey is good for another',
    edits: [
      {
        file: 'src/domain/intents/passkey-challenges.ts',
        find: 'const guard = { kind, userId, boundTo, deviceEpoch, credentialEpoch }',
        replace: 'const guard = { userId, boundTo, deviceEpoch, credentialEpoch }',
      },
      {
        file: 'src/domain/intents/intents.ts',
        find: 'if (stored === null || stored.kind !== kind) return null',
        replace: 'if (stored === null) return null',
      },
    ],
    tests: ['test/contract/passkeys/passkey-step-up.test.ts'],
  },
  {
    name: 'a secret opens an intent of another kind',
    file: 'src/domain/intents/intents.ts',
    find: 'if (stored === null || stored.kind !== kind) return null',
    replace: 'if (stored === null) return null',
    tests: ['test/domain/intents/kinds.test.ts', 'test/domain/intents/login-intents.test.ts'],
  },
  {
    name: 'an intent that does not have the form of its kind is admitted',
    file: 'src/domain/intents/intents.ts',
    find: 'const intent = intentOfForm(kind, stored)',
    replace: 'const intent = stored as never as Intents[K]',
    tests: ['test/domain/intents/kinds.test.ts'],
  },
  {
    name: 'the answer of another provider comes back to a flow',
    file: 'src/domain/intents/oauth-flows.ts',
    find: 'flow?.payload.provider === provider && ',
    replace: '',
    tests: ['test/contract/oauth/real-attacks.test.ts'],
  },
  {
    name: 'an import goes on with an account that was disabled meanwhile',
    file: 'src/domain/accounts/user-import.ts',
    find: 'const guard = { importState, enabled: false, deletingAt: null }\n    const added',
    replace: 'const guard = { enabled: false, deletingAt: null }\n    const added',
    tests: ['test/contract/accounts/import-races.test.ts'],
  },
  {
    name: 'the codes of an app are not asked about again once they are stored',
    file: 'src/domain/factors/totp-enrollment.ts',
    find: 'stands = await isUnchanged()',
    replace: 'stands = true',
    tests: ['test/contract/factors/late-backup-codes.test.ts'],
  },
  {
    name: 'the token for an old password outlives a change of factors while its hash waits',
    file: 'src/domain/passwords/password-writer.ts',
    find: 'return isOfLogin && now.deviceEpoch !== seen.deviceEpoch',
    replace: 'return isOfLogin && now.sessionEpoch < seen.sessionEpoch',
    tests: ['test/contract/passwords/late-password-tokens.test.ts'],
  },
  {
    name: 'a way to a provider that links an account outlives a change of factors',
    file: intents,
    find: "hangsOn: ['credentials', 'factors', 'session', 'provider']",
    replace: "hangsOn: ['credentials', 'session', 'provider']",
    tests: ['test/contract/oauth/links.test.ts'],
  },
]
