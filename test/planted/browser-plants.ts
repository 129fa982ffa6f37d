import type { PlantEntry } from './plant.js'

export const browserPlants: readonly PlantEntry[] = [
  {
    name: 'a page of a sibling domain may send requests with the cookie',
    file: 'src/http/incoming-request.ts',
    find: 'return secFetchSite === undefined',
    replace: "return secFetchSite !== 'cross-site'",
    tests: ['test/contract/http/origin.test.ts'],
  },
  {
    name: 'any page may send requests with the cookie',
    file: 'src/http/incoming-request.ts',
    find: 'return allowed.has(origin)',
    replace: "return allowed.size > 0 && origin !== 'null'",
    tests: ['test/contract/http/origin.test.ts'],
  },
  {
    name: 'a redirect target that begins with a listed one is taken',
    file: 'src/engine/addresses.ts',
    find: 'target.uri === uri &&',
    replace: 'uri.startsWith(target.uri) &&',
    tests: ['test/engine/addresses.test.ts', 'test/contract/oauth/redirect-targets.test.ts'],
  },
  {
    name: 'a web flow ends at the address of an app',
    file: 'src/engine/addresses.ts',
    find: 'target.surface === surface && target.flow === flow',
    replace: 'target.surface === surface',
    tests: ['test/engine/addresses.test.ts'],
  },
]
