import type { PlantEntry } from './plant.js'

const file = 'src/engine/configuration/config-patch.ts'
const elements = 'test/contract/config/record-list-edits.test.ts'
const edits = 'test/contract/config/environment-edits.test.ts'

export const recordListPlants: readonly PlantEntry[] = [
  {
    name: 'an element takes along the keys of one whose slug begins alike',
    file,
    find: 'wanted.has(key.slice(start, end))',
    replace: 'slugs.some((slug) => key.slice(start).startsWith(slug))',
    tests: [elements],
  },
  {
    name: 'an element that is removed leaves its secrets behind',
    file,
    find: 'delete next[key]\n      removed.push(key)\n    }\n    const gone',
    replace: 'removed.push(key)\n    }\n    const gone',
    tests: [elements],
  },
  {
    name: 'a stated revision of 0 counts as none',
    file,
    find: 'if (patch.revision === undefined || patch.revision === revision) return null',
    replace: 'if (!patch.revision || patch.revision === revision) return null',
    tests: [elements, edits],
  },
  {
    name: 'elements are counted before those that the edit removes are gone',
    file,
    find: '- remove.length + create.length',
    replace: '+ create.length',
    tests: [elements],
  },
  {
    name: 'an environment is written whatever its revision is by now',
    file: 'src/domain/configuration/config-writer.ts',
    find: 'environments.update(seen.id, { revision, activation }, set)',
    replace: 'environments.update(seen.id, { activation }, set)',
    tests: [edits],
  },
  {
    name: 'an edit of another environment changes the active one',
    file: 'src/domain/configuration/config-changes.ts',
    find: 'const name = environment?.name ?? located.stored.activeEnvironment',
    replace: 'const name = located.stored.activeEnvironment',
    tests: [edits],
  },
]
