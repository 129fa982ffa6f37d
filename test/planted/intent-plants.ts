import type { Plant } from './plant.js'

const kinds = 'src/engine/intent-kinds.ts'
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
]
