import type { Plant } from './plant.js'

const kinds = 'src/engine/intent-kinds.ts'
const offers = 'src/domain/intents/link-offers.ts'
const judge = 'src/engine/judge-intent.ts'

export const intentPlants: readonly Plant[] = [
  {
    name: 'a login that waits for its second factor outlives every change of the account',
    edits: [
      {
        file: kinds,
        find: "hangsOn: ['credentials', 'sessions', 'factors', 'identity', 'loginMethod']",
        replace: "hangsOn: ['identity', 'loginMethod']",
      },
    ],
    tests: ['test/contract/login/mfa-login.test.ts'],
  },
  {
    name: 'a login that waits is completed on a disabled account',
    edits: [{ file: judge, find: '!account.enabled || ', replace: '' }],
    tests: ['test/engine/judge-intent.test.ts'],
  },
  {
    name: 'a link to reset the password outlives a change of address',
    edits: [
      {
        file: kinds,
        find: "hangsOn: ['credentials', 'address', 'password']",
        replace: "hangsOn: ['password']",
      },
    ],
    tests: [
      'test/domain/intents/mailed-intents.test.ts',
      'test/contract/passwords/recovery.test.ts',
    ],
  },
  {
    name: 'an offered link outlives a change of the password and of the factors',
    edits: [
      {
        file: kinds,
        find: "hangsOn: ['credentials', 'factors', 'address', 'session', 'provider']",
        replace: "hangsOn: ['address', 'session', 'provider']",
      },
    ],
    tests: ['test/contract/oauth/link-offer-races.test.ts'],
  },
  {
    name: 'a link is offered for an address that the provider only confirmed once',
    edits: [
      {
        file: offers,
        find: "emailAuthoritative ? canonicalEmail(profile.email ?? '') : null",
        replace: "true || emailAuthoritative ? canonicalEmail(profile.email ?? '') : null",
      },
    ],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'a link is offered to whichever user signs in next',
    edits: [
      { file: offers, find: 'if (seen.userId !== user.id) {', replace: 'if (!user.enabled) {' },
    ],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'another user of the browser leaves an offered link as it is',
    edits: [{ file: offers, find: 'await linkOffers.take(seen.id)', replace: '' }],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'any session of the user confirms an offered link',
    edits: [
      {
        file: offers,
        find: 'offer?.userId === user.id && offer.sessionId === sessionId',
        replace: 'offer?.userId === user.id && sessionId !== null',
      },
    ],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'an offered link is made without the proof that linking asks for',
    edits: [
      {
        file: 'src/domain/oauth/oauth-links.ts',
        find: 'await prepare(who, provider, currentPassword, source)',
        replace: '',
      },
    ],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'a link that lost its right while it was made stays',
    edits: [
      {
        file: 'src/domain/oauth/oauth-links.ts',
        find: 'const mayStand = await terms.isGood()',
        replace: 'const mayStand = true',
      },
    ],
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a link that lost its right just before it was settled stays',
    edits: [
      {
        file: 'src/domain/oauth/oauth-links.ts',
        find: 'isSettled && (await terms.isGood())',
        replace: 'isSettled',
      },
    ],
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a link stands where the account cannot be looked at once more',
    edits: [
      {
        file: 'src/domain/oauth/oauth-links.ts',
        find: '} finally {\n      if (!stands && begun !== null) await identities.takeBack(begun)\n    }',
        replace: '} finally {\n    }',
      },
    ],
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'what a stranger planted stays open where the first sign-in of the owner was cut off',
    edits: [
      {
        file: 'src/domain/oauth/provider-proofs.ts',
        find: "await sessions.endAll(proved.id, 'password_change', source)",
        replace:
          "if (verdict === 'prove') await sessions.endAll(proved.id, 'password_change', source)",
      },
    ],
    tests: ['test/security/owner-proof.test.ts'],
  },
  {
    name: 'a link opens the account before it is settled',
    edits: [
      {
        file: 'src/domain/oauth/oauth-accounts.ts',
        find: 'known !== null && isBeingLinked(known)',
        replace: 'known !== null && isBeingLinked(known) && known.id === ""',
      },
    ],
    tests: ['test/contract/oauth/cut-off-links.test.ts'],
  },
  {
    name: 'a guess that comes between makes a longer lockout short',
    edits: [
      {
        file: 'src/domain/limits/rate-limiter.ts',
        find: 'let left = tries; ; left -= 1',
        replace: 'let left = 1; ; left -= 1',
      },
    ],
    tests: ['test/domain/limits/closed-windows.test.ts'],
  },
  {
    name: 'a sign-out in the browser leaves an offered link as it is',
    edits: [
      {
        file: 'src/operations/authentication-operations.ts',
        find: 'await oauthLinks.forgetOffer({ cookie: linkCookie, body: null })',
        replace: '',
      },
    ],
    tests: ['test/contract/oauth/link-on-sign-in.test.ts'],
  },
  {
    name: 'the token for a password that is too old proves the mailbox',
    edits: [
      {
        file: 'src/domain/passwords/password-recovery.ts',
        find: 'if (isMailed(intent) && user.emailVerifiedAt === null)',
        replace: 'if (user.emailVerifiedAt === null)',
      },
    ],
    tests: ['test/security/owner-proof.test.ts'],
  },
  {
    name: 'a challenge of one ceremony with a passkey is good for another',
    edits: [
      {
        file: 'src/domain/intents/passkey-challenges.ts',
        find: 'await passkeyChallenges.take(challengeId, factsOf(ceremony))',
        replace:
          'await passkeyChallenges.take(challengeId, { userId: user.id, boundTo: ceremony.boundTo })',
      },
    ],
    tests: ['test/contract/passkeys/passkey-step-up.test.ts'],
  },
  {
    name: 'an import goes on with an account that was disabled meanwhile',
    edits: [
      {
        file: 'src/domain/accounts/account-import.ts',
        find: 'const guard = { lastIntentId, enabled: false, deletingAt: null }\n    const added',
        replace: 'const guard = { enabled: false, deletingAt: null }\n    const added',
      },
    ],
    tests: ['test/contract/accounts/import-races.test.ts'],
  },
  {
    name: 'the codes of an app are not asked about again once they are stored',
    edits: [
      {
        file: 'src/domain/factors/totp-enrollment.ts',
        find: 'stands = await isUnchanged()',
        replace: 'stands = true',
      },
    ],
    tests: ['test/contract/factors/late-backup-codes.test.ts'],
  },
  {
    name: 'the token for an old password outlives a change of factors while its hash waits',
    edits: [
      {
        file: 'src/domain/passwords/password-writer.ts',
        find: 'return isOfLogin && now.deviceEpoch !== seen.deviceEpoch',
        replace: 'return isOfLogin && now.sessionEpoch < seen.sessionEpoch',
      },
    ],
    tests: ['test/contract/passwords/late-password-tokens.test.ts'],
  },
  {
    name: 'a way to a provider that links an account outlives a change of factors',
    edits: [
      {
        file: kinds,
        find: "hangsOn: ['credentials', 'factors', 'session', 'provider']",
        replace: "hangsOn: ['credentials', 'session', 'provider']",
      },
    ],
    tests: ['test/contract/oauth/links.test.ts'],
  },
]
