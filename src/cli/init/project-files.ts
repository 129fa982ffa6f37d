import type { Choices, Framework, StoreName } from './choices.js'

/** Versions as the package itself was tested with them. */
export type Versions = Readonly<Record<string, string>>

const ofFramework: Readonly<Record<Framework, readonly string[]>> = {
  express: ['express'],
  fastify: ['fastify'],
  koa: ['koa'],
  hono: ['@hono/node-server', 'hono'],
}
const typesOfFramework: Readonly<Record<Framework, readonly string[]>> = {
  express: ['@types/express'],
  fastify: [],
  koa: ['@types/koa'],
  hono: [],
}
const ofStore: Readonly<Record<StoreName, readonly string[]>> = {
  sqlite: [],
  postgres: ['pg'],
  mariadb: ['mariadb'],
  mongo: ['mongodb'],
}
const typesOfStore: Readonly<Record<StoreName, readonly string[]>> = {
  sqlite: [],
  postgres: ['@types/pg'],
  mariadb: [],
  mongo: [],
}
const urls: Readonly<Record<StoreName, string | null>> = {
  sqlite: null,
  postgres: 'postgres://postgres@localhost:5432/postgres',
  mariadb: 'mariadb://root@localhost:3306/auth',
  mongo: 'mongodb://localhost:27017',
}

/** The packages that a host of these choices needs beside `postern`. */
export function packagesOf({ framework, store }: Choices): {
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
} {
  return {
    dependencies: [...ofFramework[framework], ...ofStore[store]],
    devDependencies: [
      ...['@types/node', ...typesOfFramework[framework], ...typesOfStore[store], 'typescript'],
    ],
  }
}

export function packageFile(choices: Choices, versions: Versions, version: string): string {
  const { dependencies, devDependencies } = packagesOf(choices)
  const withVersions = (names: readonly string[]) =>
    Object.fromEntries([...names].sort().map((name) => [name, versions[name] ?? '*']))
  const manifest = {
    private: true,
    type: 'module',
    engines: { node: '>=22.18.0' },
    scripts: {
      setup: `postern migrate --apply && postern create-operator ${choices.email}`,
      start: 'node --env-file=.env server.ts',
      typecheck: 'tsc',
    },
    dependencies: { ...withVersions(dependencies), postern: `^${version}` },
    devDependencies: withVersions(devDependencies),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

export function tsconfigFile(): string {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
  }
  return `${JSON.stringify({ compilerOptions, include: ['*.ts'] }, null, 2)}\n`
}

export function envFile({ store }: Choices): string {
  const url = urls[store]
  const database = url === null ? '' : `DATABASE_URL=${url}\n`
  return `AUTH_URL=http://localhost:3000\nPORT=3000\n${database}`
}

/** What must not reach a repository. */
export const ignored = ['node_modules/', '.postern/', '.env', '*.db', '*.db-*']

/** The file with the lines that it lacks; the same text where it has them all. */
export function withIgnored(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const missing = ignored.filter((line) => !lines.includes(line))
  return missing.length === 0 ? text : withLines(text, missing)
}

export function withLines(text: string, lines: readonly string[]): string {
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${text}${separator}${lines.join('\n')}\n`
}
