import type { PlantEntry } from './plant.js'

const access = 'src/domain/authorization/access.ts'

export const accessPlants: readonly PlantEntry[] = [
  {
    name: 'a key of another tenant signs where one of its own has the same id',
    file: 'src/identity-providers/provider-sign-in.ts',
    find: 'await verifiedByOne(idToken, keys, {',
    replace: 'await verifiedByOne(idToken, published, {',
    tests: ['test/identity-providers/providers.test.ts'],
  },
  {
    name: 'the client surface lets tokens of service accounts in',
    file: 'src/engine/surface-settings.ts',
    find: "client: ['client'],",
    replace: "client: ['client', 'service'],",
    tests: ['test/engine/surface-settings.test.ts'],
  },
  {
    name: 'a session on the denylist opens guarded routes',
    file: access,
    find: 'if (claims.sid !== undefined) ids.push(',
    replace: "if (claims.sid === '') ids.push(",
    tests: ['test/contract/sessions/session-ends.test.ts'],
  },
  {
    name: 'a disabled account keeps its permissions until its token expires',
    file: access,
    find: 'if (!isOfKind || !user.enabled)',
    replace: 'if (!isOfKind)',
    tests: ['test/contract/authorization/authorization.test.ts'],
  },
  {
    name: 'an answer of the authorizer that is no boolean allows',
    file: access,
    find: 'return answer === true ||',
    replace: 'return Boolean(answer) ||',
    tests: ['test/contract/authorization/authorization.test.ts'],
  },
  {
    name: 'a proof of a second factor never grows too old',
    file: 'src/domain/factors/step-up.ts',
    find: 'if (age !== null && age < maxAgeMs) return',
    replace: 'if (age !== null) return',
    tests: ['test/contract/service-accounts/service-account-guards.test.ts'],
  },
  {
    name: 'a proof outlives the factors that it was shown with',
    file: 'src/domain/factors/step-up.ts',
    find: 'proof?.userId === id && proof.deviceEpoch === deviceEpoch',
    replace: 'proof?.userId === id',
    tests: ['test/contract/factors/mfa-self.test.ts', 'test/contract/factors/factor-races.test.ts'],
  },
  {
    name: 'a login overtaken by a change of factors proves the factor that it showed',
    file: 'src/domain/login/login-pipeline.ts',
    find: 'recordProof(ctx, { ...session, user: login.user }, mfaMethod)',
    replace: 'recordProof(ctx, session, mfaMethod)',
    tests: ['test/contract/factors/overtaken-logins.test.ts'],
  },
  {
    name: 'a device that such a login trusts stands for the factors of now',
    file: 'src/domain/login/login-pipeline.ts',
    find: 'trustDeviceOfLogin(ctx, { user, sessionId }, deviceId, trust, source)',
    replace: 'trustDeviceOfLogin(ctx, session, deviceId, trust, source)',
    tests: ['test/contract/factors/overtaken-logins.test.ts'],
  },
  {
    name: 'a permission for the own account opens the own factors as well',
    file: access,
    find: 'const question = { permission, tenantId }',
    replace: "const question = { permission: permission.replace('mfa.self', 'self'), tenantId }",
    tests: ['test/contract/authorization/permissions-of-routes.test.ts'],
  },
  {
    name: 'whether there is something is told before whether the caller may know',
    file: 'src/http/admission.ts',
    find: '  permission,\n  stepUp,\n  target,',
    replace: '  target,\n  permission,\n  stepUp,',
    tests: ['test/contract/authorization/permissions-of-routes.test.ts'],
  },
  {
    name: 'a login by a provider needs no second factor',
    file: 'src/domain/login/login-pipeline.ts',
    find: 'if (asked !== null && device === null)\n',
    replace: "if (asked !== null && device === null && first.method === 'password')\n",
    tests: ['test/contract/login/first-and-second-factors.test.ts'],
  },
  {
    name: 'failures are counted for client ids that exist alone',
    file: 'src/domain/service-accounts/service-credentials.ts',
    find: 'ctx.memory.grants.perPair.attempt(pair,',
    replace:
      '(found.credential === null ? { attempt: async (_s: string, _l: object, make: () => Promise<Verdict>) => make() } : ctx.memory.grants.perPair).attempt(pair,',
    tests: ['test/contract/service-accounts/service-grant-refusals.test.ts'],
  },
  {
    name: 'a grant that waited for another one goes by what it read before',
    file: 'src/domain/service-accounts/service-credentials.ts',
    find: 'return standingOf(await readAgain(ctx, standing.credential))',
    replace: 'return standing',
    tests: ['test/contract/service-accounts/service-account-races.test.ts'],
  },
  {
    name: 'an account read before its tenant was waited for is asked about',
    file: 'src/http/route-guards.ts',
    find: 'isThenable(named?.tenantId) ? undefined : begun',
    replace: 'begun',
    tests: ['test/contract/authorization/tenant-guards.test.ts'],
  },
  {
    name: 'a principal is not asked for again, however long ago a guard let it in',
    file: 'src/domain/authorization/access.ts',
    find: 'return since >= 0 && since <= freshMs',
    replace: 'return since >= 0',
    tests: [
      'test/contract/authorization/tenant-guards.test.ts',
      'test/contract/authorization/held-up-requests.test.ts',
    ],
  },
  {
    name: 'the claims that requests of one token share can be changed',
    file: 'src/crypto/token-format.ts',
    find: 'return Object.freeze(of)',
    replace: 'return of',
    tests: ['test/contract/authorization/host-routes.test.ts'],
  },
  {
    name: 'a caller who hangs up is refused from nowhere',
    file: 'adapters/shared/node-exchange.ts',
    find: 'any more.\n    remoteAddress: request.socket.remoteAddress,',
    replace:
      'any more.\n    get remoteAddress() {\n      return request.socket.remoteAddress\n    },',
    tests: ['test/contract/authorization/host-routes.test.ts'],
  },
]
