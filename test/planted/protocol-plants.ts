import type { Edit } from './plant.js'

/** A mistake in a protocol, which simulated histories have to show. */
export interface ProtocolPlant {
  readonly name: string
  readonly edits: readonly [Edit, ...Edit[]]
}

const plant = (name: string, file: string, find: string, replace: string): ProtocolPlant => ({
  name,
  edits: [{ file, find, replace }],
})

/** Played by `npm run test:long -- protocols`. */
export const protocolPlants: readonly ProtocolPlant[] = [
  plant(
    'the write that rotates asks for no generation',
    'src/engine/refresh-rules.ts',
    '  return {\n    generation,\n    revokedAt: null,',
    '  return {\n    revokedAt: null,',
  ),
  {
    name: 'a token two generations behind is re-issued',
    edits: [
      {
        file: 'src/engine/refresh-rules.ts',
        find: 'generation - presented.generation === 1',
        replace: 'generation - presented.generation >= 1',
      },
    ],
  },
  plant(
    'the grace never ends',
    'src/engine/refresh-rules.ts',
    '(isShown || isPredecessor) && now - rotatedAt < graceMs',
    '(isShown || isPredecessor) && (now - rotatedAt < graceMs || now > 0)',
  ),
  plant(
    'a replay ends nothing',
    'src/domain/sessions/refresh-reading.ts',
    "{ code: 'refresh_token_reused', end: 'replay' }",
    "{ code: 'refresh_token_reused', end: null }",
  ),
  plant(
    'an ending lists no session',
    'src/domain/sessions/session-endings.ts',
    'ctx.denylist.put(batch.map(({ id }) => entryOf(ctx, id, reason, expiresAt))),',
    'Promise.resolve(expiresAt),',
  ),
  plant(
    'a change of password ends no other session',
    'src/domain/accounts/profile.ts',
    "  if (endsSessions) {\n    await endAllSessions(ctx, user.id, 'password_change', source, { except: sessionId })\n  }\n",
    '',
  ),
  plant(
    'a link to reset the password outlives every change of it',
    'src/engine/intents.ts',
    "    hangsOn: ['credentials', 'address', 'password'],",
    "    hangsOn: ['address', 'password'],",
  ),
  plant(
    'a code of an authenticator app is good twice',
    'src/domain/factors/totp-factors.ts',
    'lastStep: { lte: step - 1 }',
    'lastStep: { lte: step }',
  ),
  plant(
    'a login asks for no second factor',
    'src/domain/login/login-pipeline.ts',
    '  if (asked !== null && device === null)\n    return askForFactor(ctx, asked, { ...first, factors }, source)\n',
    '',
  ),
  plant(
    'a revoked secret of a service account gets tokens',
    'src/domain/service-accounts/service-credentials.ts',
    "  if (credential.status !== 'active') return refused('credential_revoked')\n",
    '',
  ),
  plant(
    'a changed password leaves no record',
    'src/domain/events/audit-log.ts',
    "  'password.changed': (event) => own(event.userId, { by: event.by }),",
    "  'password.changed': () => null,",
  ),
]
