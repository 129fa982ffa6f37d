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
      comment: 'Types may refer to each other in a circle; modules may not load each other in one.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'not-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
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
      name: 'src-knows-no-adapter',
      severity: 'error',
      from: { path: '^src/' },
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
      from: { path: '^adapters/' },
      to: { path: '^src/', pathNot: '^src/checks/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'peers-by-type-only',
      comment: 'Frameworks and drivers are optional peers; the host brings and loads them.',
      severity: 'error',
      from: { path: '^(src|adapters)/' },
      to: {
        path: 'node_modules/(@types/)?(express|fastify|koa|pg|mongodb|redis|ioredis|@electric-sql)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-dev-dependency-ships',
      severity: 'error',
      from: { path: '^(src|adapters)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'] },
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
