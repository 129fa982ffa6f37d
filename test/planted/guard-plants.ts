import { fileURLToPath } from 'node:url'
import { guardTests } from './guard-tests.js'
import { findGuards } from './guards.js'
import type { Plant } from './plant.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Each guard that a test is known to notice, taken away. */
export const guardPlants: readonly Plant[] = findGuards(root).flatMap(({ id, edit }) => {
  const tests = guardTests[id]
  return tests === undefined ? [] : [{ name: `without ${id}`, edits: [edit], tests }]
})
