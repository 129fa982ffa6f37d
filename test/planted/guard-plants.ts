import { fileURLToPath } from 'node:url'
import { guardTests } from './guard-tests.js'
import { findGuards } from './guards.js'
import type { Plant } from './plant.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Guards that are put together elsewhere than at the write, where reading the sources does not find them. */
const others: readonly Plant[] = [
  {
    name: 'the write of users for the host does not ask for the epochs',
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

/** In words what is taken away: a step of the admission, or a condition of a write. */
function nameOf(id: string): string {
  const [place = '', condition] = id.split(': ')
  const [writer = '', collection = '', taken] = place.split(' ')
  return condition === undefined
    ? `admission: the step ${writer} is gone`
    : `${writer}: the ${taken === undefined ? 'write' : 'take'} of ${collection} does not ask for ${condition}`
}

/** Each guard, taken away. */
export const guardPlants: readonly Plant[] = [
  ...findGuards(root).flatMap(({ id, edit }) => {
    const tests = guardTests[id]
    return tests === undefined ? [] : [{ name: nameOf(id), edits: [edit] as const, tests }]
  }),
  ...others,
]
