import type { PlantEntry } from './plant.js'

const factorGuesses = 'test/contract/limits/factor-guesses.test.ts'
const endedEnrolments = 'test/contract/factors/ended-enrolments.test.ts'
const lateFactors = 'test/contract/factors/late-factors.test.ts'

/** Rights of a session, and of a login, that outlive what they came from. */
export const factorPlants: readonly PlantEntry[] = [
  {
    name: 'wrong codes within a session lock the logins of its owner',
    file: 'src/domain/factors/code-verification.ts',
    find: '{ counter: inSessions[method],',
    replace: '{ counter: atLogins[method],',
    tests: [factorGuesses],
  },
  {
    name: 'each session has guesses of its own at codes',
    file: 'src/domain/factors/code-verification.ts',
    find: 'inSessions[method], subject: userId,',
    replace: 'inSessions[method], subject: sessionId,',
    tests: [factorGuesses],
  },
  {
    name: 'wrong passkeys within a session lock the logins of its owner',
    file: 'src/domain/passkeys/passkeys.ts',
    find: "kind === 'passkeyStepUp'",
    replace: "kind === 'passkeyStepUp' && boundTo === ''",
    tests: [factorGuesses],
  },
  {
    name: 'every passkey that does not verify is told with one reason',
    file: 'src/crypto/webauthn.ts',
    find: "if (said('type') !== type) return 'type_mismatch'",
    replace: "if (said('type') !== null) return 'signature_invalid'",
    tests: ['test/crypto/webauthn-ceremonies.test.ts'],
  },
  {
    name: 'a new passkey is refused and no event says why',
    file: 'src/domain/passkeys/passkey-ceremonies.ts',
    find: "  ctx.emit('mfa.failed', source, { ...facts, reason: registered })\n",
    replace: '',
    tests: ['test/contract/passkeys/passkey-registration.test.ts'],
  },
  {
    name: 'a code that is refused beside a right one ends the session',
    file: 'src/domain/sessions/session-endings.ts',
    find: 'isOver = isLimited && (await isMarked(ctx, sessionId))',
    replace: 'isOver = isLimited',
    tests: [factorGuesses],
  },
  {
    name: 'a proof that the owner voided still changes factors that had to wait',
    file: 'src/domain/factors/factor-changes.ts',
    find: 'if (now.deviceEpoch === deviceEpoch) return',
    replace: 'if (now.deviceEpoch >= deviceEpoch) return',
    tests: [lateFactors],
  },
  {
    name: 'a login with the password alone outlives the enrolment of the first factor',
    file: 'src/domain/sessions/sessions.ts',
    find: 'how.mfaMethod === null ? { deviceEpoch } : {}',
    replace: 'how.mfaMethod === null && how.deviceId !== null ? { deviceEpoch } : {}',
    tests: ['test/contract/factors/overtaken-logins.test.ts'],
  },
  {
    name: 'a session that is on the denylist alone still changes the account',
    file: 'src/domain/intents/intents.ts',
    find: '  if (isEnding) return revoked\n',
    replace: '',
    tests: ['test/security/intents/intents.test.ts'],
  },
  {
    name: 'a session that an ending of all sessions has yet to reach enrols a factor',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: 'const refusal = await refusalIn(ctx, askedIn, seen)',
    replace: 'const refusal = await refusalIn(ctx, null, seen)',
    tests: [endedEnrolments],
  },
  {
    name: 'a session that was ended alone keeps the factor that it was enrolling',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: 'const refusal = await refusalIn(ctx, askedIn, settled)',
    replace: 'const refusal = await refusalIn(ctx, null, settled)',
    tests: [endedEnrolments],
  },
  {
    name: 'a session that an ending of all sessions has yet to reach proves a factor again',
    file: 'src/domain/factors/step-up.ts',
    find: 'const refusal = await sessionRefusal(ctx, user, sessionId)\n  if (refusal !== null) throw refusal\n',
    replace: '',
    tests: ['test/contract/factors/step-up-proofs.test.ts'],
  },
  {
    name: 'a passkey that an ending of all sessions overtook signs in once another factor is added',
    file: 'src/engine/factors.ts',
    find: '  if (account.lastIntentId !== enrollmentId) return false\n',
    replace:
      '  if (account.lastIntentId !== enrollmentId)\n    return account.credentialEpoch === factor.credentialEpoch\n',
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'a factor that stands is lost to a mailed reset where its request died before the factor said so',
    file: 'src/domain/passwords/password-writer.ts',
    find: '{ lastIntentId: change.by.id }',
    replace: '{ lastIntentId: change.by.id, settledEnrollmentId: null }',
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'a factor that stands is lost to another enrolment where its request died before the factor said so',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: '    await keepEnrolledFactor(ctx.collections, seen)\n',
    replace: '',
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'people of a tenant that was shut out finish the sign-ins that they began before',
    file: 'src/domain/surface/ways-in.ts',
    find: "  if (provider !== 'microsoft') return true\n",
    replace: '  if (provider !== null) return true\n',
    tests: ['test/contract/oauth/excluded-tenants.test.ts'],
  },
  {
    name: 'the login of a session in an unusual place goes on counting as recent',
    file: 'src/domain/sessions/refresh-reading.ts',
    find: '  if (await ctx.collections.stepUpProofs.insert(proof)) return\n',
    replace: '  if (proof !== null) return\n',
    tests: ['test/contract/sessions/session-risk.test.ts'],
  },
  {
    name: 'a person whose password is of no use any more is asked for it before a change',
    file: 'src/domain/factors/step-up.ts',
    find: '!hasFactor && passwordLoginEnabled && who',
    replace: '!hasFactor && who',
    tests: ['test/contract/factors/re-authentication-without-passwords.test.ts'],
  },
  {
    name: 'a password is changed in a session that has ended',
    file: 'src/domain/passwords/password-writer.ts',
    find: '    await requireAsker(ctx, change, user)\n',
    replace: '',
    tests: ['test/security/overtaken/re-authentication-overtaken.test.ts'],
  },
  {
    name: 'a login whose answer was lost counts among the sessions of the user',
    file: 'src/domain/sessions/sessions.ts',
    find: '    await ctx.collections.families.take(id).catch(() => {})\n',
    replace: '',
    tests: ['test/contract/sessions/session-limit.test.ts'],
  },
  {
    name: 'a passkey of a request that a mailed reset overtook signs in until the sweep',
    file: 'src/domain/passkeys/passkey-ceremonies.ts',
    find: '!enrollmentStands(passkey, user)',
    replace: 'false',
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'the sweep keeps a factor of a request that a mailed reset overtook',
    edits: [
      {
        file: 'src/domain/factors/factor-enrollment.ts',
        find: 'if (!enrollmentStands(noted, user)) return null',
        replace: '',
      },
      {
        file: 'src/domain/factors/factor-enrollment.ts',
        find: 'return isSettled ? user : settleEnrollment(ctx, claimedBy(noted), enrollmentId)',
        replace:
          'return isSettled ? user : ((await settleEnrollment(ctx, claimedBy(noted), enrollmentId)) ?? user)',
      },
    ],
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'the sweep takes a factor away that stood before the reset',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: '  await factor.mark(notice, enrolledMark(intent.id)).catch(() => {})\n',
    replace: '',
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'a factor that another enrolment had say it stands is not taken back with its session',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: '  await factor.takeBack(notice)\n  if (enrollmentId === null) return\n',
    replace: '  await factor.takeBack(notice)\n  if (enrollmentId !== null) return\n',
    tests: ['test/contract/factors/ended-enrolments.test.ts'],
  },
  {
    name: 'a sweep that settles a factor leaves no note of it',
    file: 'src/domain/factors/factor-enrollment.ts',
    find: '  if (!isMarked) await kind.move(',
    replace: "  if (enrollmentId === '') await kind.move(",
    tests: ['test/contract/factors/untold-factors.test.ts'],
  },
  {
    name: 'a removal that a driver writes twice is refused',
    file: 'src/domain/factors/factor-changes.ts',
    find: '    if (isWritten(user)) return user\n',
    replace: '',
    tests: ['test/domain/factors/raise-device-epoch.test.ts'],
  },
  {
    name: 'who stops before each lockout of codes may go on for ever',
    file: 'src/domain/limits/lockout.ts',
    find: '  if (!isFull && !isDayFull) return null\n',
    replace: '  if (!isFull) return null\n',
    tests: ['test/contract/login/long-guessing.test.ts'],
  },
]
