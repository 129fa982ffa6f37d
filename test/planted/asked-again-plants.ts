import type { PlantEntry } from './plant.js'

const access = 'src/domain/authorization/access.ts'
const look = 'src/domain/sessions/own-sessions.ts'
const connections = 'test/contract/sessions/session-of-connections.test.ts'
const rotation = 'test/contract/sessions/key-rotation.test.ts'
const lateRequests = 'test/contract/authorization/held-up-requests.test.ts'
const lateCredentials = 'test/contract/service-accounts/overtaken-credentials.test.ts'
const lateEdits = 'test/contract/config/overtaken-edits.test.ts'

/** What was let in a while ago, and is asked about again. */
export const askedAgainPlants: readonly PlantEntry[] = [
  {
    name: 'what a signing key let in outlives its replacement',
    file: access,
    find: "if (!isKeyInForce) throw new AuthError('unauthorized')",
    replace: 'void isKeyInForce',
    tests: [lateRequests],
  },
  {
    name: 'a ring that is too old is not read again for a token that was let in before',
    file: 'src/domain/keys/signing-keys.ts',
    find: 'if (!isSupplied || isKnown()) return ring()',
    replace: 'if (!isSupplied || isKnown()) return trusted()',
    tests: [lateRequests],
  },
  {
    name: 'a connection outlives the replacement of the signing key',
    file: look,
    find: 'if (!(await isSignerInForce(ctx, before))) return null',
    replace: 'await isSignerInForce(ctx, before)',
    tests: [connections],
  },
  {
    name: 'a connection that was asked about twice outlives the replacement of the signing key',
    file: look,
    find: '{ ...found, claims: before }',
    replace: 'found',
    tests: [connections],
  },
  {
    name: 'a refresh under way gets tokens of the key that replaced a stolen one',
    file: 'src/domain/sessions/refresh.ts',
    find: 'if (await isSignerInForce(ctx, claims)) return',
    replace: 'if (claims.sub) return',
    tests: [rotation],
  },
  {
    name: 'a page that has a token minted gets one of the key that replaced a stolen one',
    file: look,
    find: '(await isSignerInForce(ctx, claims)) ? access : null',
    replace: 'access',
    tests: [rotation],
  },
  {
    name: 'the key that signed a refresh token is not remembered',
    file: 'src/domain/sessions/tokens.ts',
    find: 'ctx.memory.signedBy.set(verified.claims, verified.kid)',
    replace: 'void verified.kid',
    tests: [connections],
  },
  {
    name: 'the key that signed the token of a principal is not remembered',
    file: 'src/domain/context/actor.ts',
    find: 'return #kid in principal ? principal.#kid : null',
    replace: 'return #kid in principal ? null : null',
    tests: [lateRequests],
  },
  {
    name: 'a connection opened with a copied cookie outlives a change of the password in its session',
    file: look,
    find: 'gen < family.generation && gen <= family.noReissueUpTo',
    replace: 'gen < family.generation && gen < family.noReissueUpTo - 9',
    tests: [connections],
  },
  {
    name: 'a credential is issued for an administrator who was signed out while it was hashed',
    file: 'src/domain/service-accounts/service-credentials.ts',
    find: 'await act.askAgain?.()',
    replace: '',
    tests: [lateCredentials],
  },
  {
    name: 'a service account is made for an administrator who was signed out meanwhile',
    file: 'src/domain/service-accounts/service-accounts.ts',
    find: 'await act.askAgain?.()',
    replace: '',
    tests: [lateCredentials],
  },
  {
    name: 'an administrator who is asked again shows no second factor',
    file: 'src/http/admission.ts',
    find: 'await stepUp(admission, { ctx })',
    replace: '',
    tests: [lateCredentials],
  },
  {
    name: 'an administrator who is asked again is believed for a second',
    file: access,
    find: 'ctx.memory.principals.note(principal, Number.NEGATIVE_INFINITY)',
    replace: '',
    tests: [lateCredentials],
  },
  {
    name: 'an edit that waited for its validator counts as let in just now',
    file: 'src/http/admission.ts',
    find: "when === 'late' && isFreshPrincipal(ctx, principal)",
    replace: "when === 'late'",
    tests: [lateEdits],
  },
  {
    name: 'an edit that waited for its validator is written for a session that has ended',
    file: 'src/domain/configuration/config-changes.ts',
    find: 'plan)\n  await actor.askAgain?.()',
    replace: 'plan)',
    tests: [lateEdits],
  },
  {
    name: 'an activation that waited for its validator is made for a session that has ended',
    file: 'src/domain/configuration/config-changes.ts',
    find: 'found.writeId\n      await actor.askAgain?.()',
    replace: 'found.writeId',
    tests: [lateEdits],
  },
  {
    name: 'requireStepUp takes a number for seconds',
    file: 'src/http/route-guards.ts',
    find: "typeof text === 'string' && /[a-z]$/.test(text) ? parseDuration(text) : null",
    replace: 'parseDuration(String(text))',
    tests: ['test/contract/authorization/route-guards.test.ts'],
  },
  {
    name: 'an export has the network of an administrator',
    file: 'src/domain/accounts/user-export.ts',
    find: 'isEnding || byOthers.test(action) : actorId !== id',
    replace: 'isEnding || byOthers.test(action) : false',
    tests: ['test/contract/accounts/data-export.test.ts'],
  },
  {
    name: 'an export has the network of an administrator whom the host did not name',
    file: 'src/domain/accounts/user-export.ts',
    find: 'isEnding || byOthers.test(action) : actorId !== id',
    replace: 'byOthers.test(action) : actorId !== id',
    tests: ['test/contract/accounts/data-export.test.ts'],
  },
  {
    name: 'guesses with the link of a change of address leave no event',
    file: 'src/domain/accounts/profile.ts',
    find: "ctx.emit('password.changeFailed', source, { userId: user.id, sessionId: null })",
    replace: '',
    tests: ['test/contract/accounts/email-change.test.ts'],
  },
]
