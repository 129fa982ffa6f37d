import type { Plant } from './plant.js'

export const sessionPlants: readonly Plant[] = [
  {
    name: 'a refresh moves the end of the session record',
    edits: [
      {
        file: 'src/domain/sessions/refresh.ts',
        find: "        if (write === 'won') {\n",
        replace:
          "        if (write === 'won') {\n          const moved = { expiresAt: now + 90 * 24 * 60 * 60 * 1000 }\n          await deps.collections.sessions.update(attempt.claims.sid, { active: true }, moved)\n",
      },
    ],
    tests: ['test/contract/sessions/session-ends.test.ts'],
  },
  {
    name: 'a denylist entry counts no longer in its last minute',
    edits: [
      {
        file: 'src/domain/authorization/access.ts',
        find: 'ids.includes(id) && expiresAt > now)',
        replace: 'ids.includes(id) && expiresAt > now + 60_000)',
      },
    ],
    tests: ['test/contract/sessions/session-ends.test.ts'],
  },
  {
    name: 'the write that rotates does not ask for the idle deadline',
    edits: [
      {
        file: 'src/engine/refresh-rules.ts',
        find: '    expiresAt: { gt: now },\n    ...(requiredEpoch',
        replace: '    ...(requiredEpoch',
      },
      {
        file: 'src/engine/refresh-rules.ts',
        find: '  readonly expiresAt: { readonly gt: number }\n',
        replace: '',
      },
    ],
    tests: ['test/engine/refresh-rules.test.ts'],
  },
]
