import type { PlantEntry } from './plant.js'

const file = 'src/engine/refresh-rules.ts'

export const refreshPlants: readonly PlantEntry[] = [
  {
    name: 'a refresh token that was rotated away works again',
    file,
    find: "return { outcome: 'replay' }",
    replace: "return { outcome: 'reissue' }",
    tests: ['test/engine/refresh-rules.test.ts', 'test/contract/sessions/refresh.test.ts'],
  },
  {
    name: 'a token of before a password change is re-issued within the grace',
    file,
    find: 'isPredecessor && !isBarred && withinGrace',
    replace: 'isPredecessor && withinGrace',
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
]
