import { fileURLToPath } from 'node:url'
import { guardTests } from './guard-tests.js'
import { findGuards } from './guards.js'
import type { Plant } from './plant.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Guards that are put together elsewhere than at the write, where reading the sources does not find them. */
const others: readonly Plant[] = [
  {
    name: "without domain/accounts/users users: the host's change asks for no epoch",
    edits: [
      {
        file: 'src/domain/accounts/users.ts',
        find: '{ ...epochs, lastIntentId } : epochs',
        replace: '{ lastIntentId } : { kind: user.kind }',
      },
    ],
    tests: ['test/security/overtaken/overtaken.test.ts'],
  },
]

/** Each guard, taken away. */
export const guardPlants: readonly Plant[] = [
  ...findGuards(root).flatMap(({ id, edit }) => {
    const tests = guardTests[id]
    return tests === undefined ? [] : [{ name: `without ${id}`, edits: [edit] as const, tests }]
  }),
  ...others,
]
