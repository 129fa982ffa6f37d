/** The rooms of `src/domain`, lowest first. A room imports rooms that stand before it. */
const domainRooms = [
  'context',
  'limits',
  'events',
  'configuration',
  'keys',
  'hashing',
  'surface',
  'sessions',
  'intents',
  'mail',
  'passwords',
  'factors',
  'login',
  'passkeys',
  'oauth',
  'accounts',
  'service-accounts',
  'authorization',
  'sweep',
]

const domainOrder = [
  ...domainRooms.slice(0, -1).map((room, at) => ({
    name: 'domain-rooms-in-order',
    severity: 'error',
    from: { path: `^src/domain/${room}/` },
    to: { path: `^src/domain/(${domainRooms.slice(at + 1).join('|')})/` },
  })),
  {
    name: 'domain-room-has-a-place',
    comment: 'Every file of src/domain stands in a room, and every room in the list above.',
    severity: 'error',
    from: { path: '^src/domain/', pathNot: `^src/domain/(${domainRooms.join('|')})/` },
    to: {},
  },
]

/**
 * A second, independent look at the folder rules that matter most, on resolved modules.
 * The whole table is enforced by test/boundaries.test.ts.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'A type import counts: two files that name each other are one file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-folder-cycle',
      comment: 'Folders depend on each other in one direction, type imports counted.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(src|adapters)' },
      to: { circular: true },
    },
    ...domainOrder,
    {
      name: 'not-unresolvable',
      comment: 'examples/nextjs is a package of its own, whose build says what cannot be found.',
      severity: 'error',
      from: { pathNot: '^examples/nextjs/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'engine-is-pure',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: { pathNot: '^src/(engine/|errors/)' },
    },
    {
      name: 'ports-and-errors-stand-alone',
      severity: 'error',
      from: { path: '^src/(ports|errors)/' },
      to: { pathNot: '^src/$1/' },
    },
    {
      name: 'client-loads-itself-alone',
      comment: 'It runs in browsers: nothing of the server, and nothing of Node.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: {
        pathNot: '^(src/client/|node_modules/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'react-loads-react-alone',
      comment: 'The client is the one that the page has.',
      severity: 'error',
      from: { path: '^src/react/' },
      to: {
        pathNot: '^(src/react/|node_modules/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'src-knows-no-adapter',
      comment: 'The command is a host: it knows the package by its public names.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^(adapters|examples|test|tools)/' },
    },
    {
      name: 'nothing-ships-the-test-kit',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'adapters-know-types-and-checks-only',
      severity: 'error',
      from: { path: '^adapters/', pathNot: '^adapters/stores/index.ts$' },
      to: { path: '^src/', pathNot: '^src/checks/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'peers-by-type-only',
      comment:
        'Frameworks and drivers are optional peers; the host brings and loads them. The command reads databases of its own accord.',
      severity: 'error',
      from: { path: '^(src|adapters)/', pathNot: '^src/cli/import/databases/' },
      to: {
        path: 'node_modules/(@types/)?(express|fastify|koa|pg|mariadb|mongodb|redis|ioredis|@electric-sql)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-dev-dependency-ships',
      severity: 'error',
      from: { path: '^(src|adapters)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm-peer'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
