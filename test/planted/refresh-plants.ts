import type { PlantEntry } from './plant.js'

const file = 'src/engine/refresh-rules.ts'

export const refreshPlants: readonly PlantEntry[] = [
  {
    name: 'a refresh token that was rotated away works again',
    file,
    find: "if (answer === 'replay') return { outcome: 'replay' }",
    replace: "if (answer === 'replay') return { outcome: 'reissue' }",
    tests: ['test/engine/refresh-rules.test.ts', 'test/contract/sessions/refresh.test.ts'],
  },
  {
    name: 'a token of before a password change is re-issued within the grace',
    file,
    find: 'graceMs === 0 || presented.generation <= noReissueUpTo',
    replace: 'graceMs === 0 || presented.generation < noReissueUpTo - 9',
    tests: ['test/contract/passwords/change-password.test.ts'],
  },
  {
    name: 'a session is refreshed beyond its absolute cap',
    file,
    find: 'if (capReached(',
    replace: 'if (behind > 1 && capReached(',
    tests: [
      'test/contract/sessions/session-ends.test.ts',
      'test/contract/sessions/refresh.test.ts',
    ],
  },
  {
    name: 'any device gets a late rotation',
    file,
    find: 'byDevice && device !== null && presented.devices.includes(device)',
    replace: 'byDevice && device !== null && presented.devices.length >= 0',
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
  {
    name: 'a late rotation does not ask who made the rotation before',
    file,
    find: 'const isSameDevice = byDevice && device',
    replace: 'const isSameDevice = (byDevice || shown > 0) && device',
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
  {
    name: 'a refresh token that was handed out and never shown does not retire',
    file,
    find: "isShown && isSameDevice ? 'lateRotation'",
    replace: "presented.generation >= shown && isSameDevice ? 'lateRotation'",
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
  {
    name: 'a late rotation raises what was shown to what it retires',
    file: 'src/domain/sessions/refresh.ts',
    find: 'const rotated = { ...written, shown }',
    replace: 'const rotated = { ...written, shown: written.generation - 1 }',
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
  {
    name: 'a late rotation does not ask in its write for a password change',
    file,
    find: '    noReissueUpTo: { lte: presented.generation - 1 },\n',
    replace: '    noReissueUpTo: { lte: presented.generation + 1_000 },\n',
    tests: ['test/engine/refresh-rules.test.ts'],
  },
  {
    name: 'a session that is looked at notes a token that is refused',
    file: 'src/domain/sessions/refresh.ts',
    find: '    if (family === null || !isServed(decision)) return refuseAttempt(',
    replace:
      "    await noteServed(ctx, attempt, { family, decision: { outcome: 'current' } })\n    if (family === null || !isServed(decision)) return refuseAttempt(",
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
  {
    name: 'a session that is looked at notes nothing',
    file: 'src/domain/sessions/refresh-reading.ts',
    find: 'family?.byDevice === true && family.shown < gen',
    replace: 'family?.byDevice === true && family.shown > gen',
    tests: ['test/contract/sessions/late-rotation.test.ts'],
  },
]
