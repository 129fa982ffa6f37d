import type { PlantEntry } from './plant.js'

export const sessionPlants: readonly PlantEntry[] = [
  {
    name: 'a refresh moves the end of the session record',
    file: 'src/domain/sessions/refresh.ts',
    find: "    const row = write === 'won' ? null :",
    replace:
      "    const moved = { expiresAt: ctx.clock.now() + 90 * 24 * 60 * 60 * 1000 }\n    await ctx.collections.sessions.update(attempt.claims.sid, { active: true }, moved)\n    const row = write === 'won' ? null :",
    tests: ['test/contract/sessions/session-ends.test.ts'],
  },
  {
    name: 'a denylist entry counts no longer in its last minute',
    file: 'src/domain/context/open-collections.ts',
    find: 'ids.includes(id) && expiresAt > now)',
    replace: 'ids.includes(id) && expiresAt > now + 60_000)',
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
  {
    name: 'a sign-out everywhere sent again leaves what the first one left',
    file: 'src/domain/sessions/logout.ts',
    find: "if (kind === 'done' && standing.user !== null) {",
    replace: "if (kind === 'done' && standing.user !== null && standing.user.email === '') {",
    tests: ['test/contract/sessions/half-ended.test.ts'],
  },
  {
    name: 'a guess too many whose ending failed ends the session at no later guess',
    file: 'src/domain/sessions/session-endings.ts',
    find: '    isOver = isLimited && (await isMarked(ctx, sessionId))\n',
    replace: '',
    tests: ['test/contract/limits/session-guesses.test.ts'],
  },
  {
    name: 'a change of password does not ask whether another one came first',
    file: 'src/domain/passwords/password-writer.ts',
    find: '  if (now.passwordChangedAt !== seen.passwordChangedAt) return true\n',
    replace: '',
    tests: ['test/contract/passwords/change-password.test.ts'],
  },
]
