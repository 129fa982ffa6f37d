import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import type { ImportFact, ParsedSource } from './parsed-source.js'

/**
 * What the files of one zone may import. Entries are folders (`src/engine/`), files
 * (`src/options.ts`), packages (`zod`), built-in modules (`node:crypto`, or `node:*` for all) and
 * the package's own public names (`postern`). A zone may always import itself.
 */
interface ZoneRule {
  readonly zone: string
  /** May be loaded at run time, and so imported as types too. */
  readonly values: readonly string[]
  /** May be imported by `import type` only. */
  readonly types: readonly string[]
}

const errors = 'src/errors/'
const ports = 'src/ports/'

/** What a text may hold: the same for callers, hosts and identity providers. */
const texts = 'src/engine/text.ts'

/** The form of the texts of a configuration, some of which are encrypted. */
const storedValues = 'src/engine/configuration/stored-value.ts'

const onceLoaded = 'src/concurrency/promises.ts'

/** An order that is cheap to leave: a data structure, and nothing that waits. */
const linkedLine = 'src/concurrency/linked-line.ts'

/** A promise whose value is there already: stores make such answers, and so do guards of routes. */
const answered = 'src/checks/answered.ts'

/** Frameworks and drivers an adapter is written for: known to it by their types alone. */
const driverTypes = [
  ...['express', 'fastify', 'koa'],
  ...['pg', '@electric-sql/pglite', 'mariadb', 'node:sqlite', 'mongodb', 'redis', 'ioredis'],
]

const innerZones = [
  ...['src/checks/', 'src/engine/', 'src/model/', 'src/crypto/', 'src/domain/', 'src/operations/'],
  ...['src/concurrency/', 'src/stores/', 'src/http/', 'src/openapi/', 'src/settings/', errors],
  ...['src/config/', 'src/system/', 'src/identity-providers/', 'src/telemetry/', 'src/options.ts'],
]

/** The files directly in `src` that no rule of their own names: they put everything together. */
const compositionRoot = 'src/*'

/** The one file that loads what a person names: the host's configuration. */
const configLoader = 'src/cli/frame/load-config.ts'

/** The first rule whose zone holds the file decides. */
const rules: readonly ZoneRule[] = [
  { zone: ports, values: [], types: [] },
  { zone: errors, values: [], types: [] },
  // What the ports promise to refuse, for every adapter alike: shipped ones and a stranger's.
  { zone: 'src/checks/', values: [], types: [ports] },
  { zone: 'src/engine/', values: [errors], types: [] },
  // Work in the background, locks and time-outs, whatever it is that waits.
  { zone: 'src/concurrency/', values: [errors], types: [ports] },
  { zone: 'src/model/', values: ['zod'], types: [ports] },
  {
    zone: 'src/crypto/',
    values: [
      ...[errors, texts, storedValues, linkedLine, 'node:buffer', 'node:crypto'],
      ...['jose', 'argon2', '@node-rs/argon2', 'otplib', '@simplewebauthn/server'],
      '@zxcvbn-ts/language-common',
    ],
    types: [ports],
  },
  // Stores around a store: checked, split in two, and one whose failures are the library's.
  {
    zone: 'src/stores/',
    values: [errors, linkedLine, 'src/checks/', 'src/model/'],
    types: [ports],
  },
  // Domains of other scripts.
  {
    zone: 'src/domain/context/email-address.ts',
    values: ['src/engine/', errors, 'tr46'],
    types: [],
  },
  {
    zone: 'src/domain/',
    values: [
      ...['src/engine/', 'src/model/', 'src/crypto/', 'src/identity-providers/', errors],
      ...['src/concurrency/', 'src/stores/'],
      // Which settings are a provider's credentials stands beside those settings, and nowhere else.
      'src/settings/oauth-providers.ts',
    ],
    types: [ports, 'src/settings/', 'src/config/'],
  },
  // What is said to identity providers, and what is believed of their answers. Stores nothing.
  {
    zone: 'src/identity-providers/',
    values: [errors, onceLoaded, 'src/crypto/secrets.ts', texts, 'oauth4webapi', 'jose'],
    types: [ports],
  },
  {
    zone: 'src/operations/',
    // Each operation calls the functions of the domain, with the context that it is given.
    values: ['src/domain/', 'src/model/', texts, errors, 'zod'],
    types: ['src/crypto/token-format.ts', ports],
  },
  {
    zone: 'src/http/',
    // For the arithmetic of addresses and networks; it opens no socket here.
    values: [errors, answered, 'src/domain/', 'src/engine/', 'node:net'],
    types: ['src/operations/', 'src/crypto/token-format.ts', 'src/model/', ports],
  },
  // The public entry brings the table; what describes it takes any table.
  { zone: 'src/openapi/index.ts', values: ['src/openapi/', 'src/operations/'], types: [] },
  { zone: 'src/openapi/', values: [errors, 'zod'], types: ['src/operations/'] },
  {
    zone: 'src/config/secrets.ts',
    values: [errors, 'src/crypto/secret-box.ts'],
    types: [ports],
  },
  // The pure half of configuration, which loads without anything of authentication, in browsers too.
  { zone: 'src/config/', values: ['src/engine/', errors], types: [ports] },
  // The words of mails, for hosts: it runs wherever a host renders them, and knows the mails by their types.
  {
    zone: 'src/mails/',
    values: [texts, 'src/system/system-clock.ts'],
    types: [ports],
  },
  { zone: 'src/settings/', values: ['src/engine/', errors], types: [] },
  // The shape of what the host passes is made of the types of those who use it.
  {
    zone: 'src/options.ts',
    values: ['zod', 'src/engine/', errors],
    types: [...innerZones, ports],
  },
  { zone: 'src/system/', values: [errors, 'node:*'], types: [ports] },
  // The only folder that knows OpenTelemetry, so that services stay free of packages.
  { zone: 'src/telemetry/', values: [errors, '@opentelemetry/api'], types: [ports, 'src/domain/'] },
  // It tells racers apart by their asynchronous context.
  { zone: 'src/testing/', values: ['node:assert', 'node:async_hooks'], types: [ports] },
  // The page installs it; the client alone is used without.
  { zone: 'src/client/passkeys.ts', values: ['@simplewebauthn/browser'], types: ['src/client/'] },
  { zone: 'src/client/', values: [], types: [...innerZones, ports] },
  // Hooks for whatever client an application has: they know its types alone.
  { zone: 'src/react/', values: ['react'], types: ['src/client/'] },
  // The drivers of the databases that users come from, where they are installed.
  { zone: 'src/cli/import/databases/', values: ['src/cli/', 'node:*', 'pg', 'mariadb'], types: [] },
  {
    zone: 'src/cli/',
    values: ['postern', 'postern/config', 'postern/stores', 'node:*'],
    types: [],
  },
  // For authors of stores: what the shipped ones are made of, and what has to be prepared.
  {
    zone: 'adapters/stores/',
    values: ['adapters/shared/', 'src/checks/', 'src/model/collections.ts'],
    types: [ports],
  },
  {
    zone: 'adapters/',
    // A store for one SQL database is a dialect for what all of them share.
    values: ['adapters/shared/', 'adapters/sql/index.ts', 'src/checks/', 'node:*'],
    types: [ports, 'src/http/http-message.ts', ...driverTypes],
  },
  // What is looked at on request, of everything that createAuth put together.
  { zone: 'src/diagnosis/', values: [...innerZones, 'src/setup/', 'node:os'], types: [ports] },
  // What createAuth puts together, a file for each part.
  { zone: 'src/setup/', values: [...innerZones, 'zod', 'node:os'], types: [ports] },
  {
    zone: compositionRoot,
    values: [...innerZones, 'src/setup/', 'src/diagnosis/', 'node:os'],
    types: [ports],
  },
  { zone: 'examples/', values: ['postern', 'node:*', 'npm:*'], types: [] },
]

/** What one file alone may load: everything else may name its types. */
const reserved: ReadonlyMap<string, string> = new Map([
  // A session is opened for a login that passed every step, and the pipeline alone says which did.
  ['src/domain/sessions/sessions.ts', 'src/domain/login/login-pipeline.ts'],
])

const builtins = new Set(builtinModules)

/** The package a bare specifier belongs to: `@scope/name/deep` → `@scope/name`. */
function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** A path of the tree for a relative specifier, else the specifier's package or built-in name. */
function resolve(from: string, specifier: string, files: ReadonlySet<string>): string | null {
  if (!specifier.startsWith('.')) {
    if (specifier.startsWith('node:')) return specifier
    return builtins.has(specifier) ? `node:${specifier}` : packageOf(specifier)
  }
  const target = posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts')
  return files.has(target) ? target : null
}

function matches(entry: string, target: string): boolean {
  if (entry === 'node:*') return target.startsWith('node:')
  if (entry === 'npm:*') return !/^(node:|src\/|adapters\/|test\/|tools\/)/.test(target)
  if (entry === compositionRoot) return /^src\/[^/]+\.ts$/.test(target)
  if (entry.endsWith('/')) return target.startsWith(entry)
  return target === entry || (entry.startsWith('node:') && target.startsWith(`${entry}/`))
}

/** Adapters are islands: `adapters/x.ts` and `adapters/x/` belong together, other adapters do not. */
function islandOf(path: string): string {
  return path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '')
}

function sameZone(rule: ZoneRule, from: string, target: string): boolean {
  if (rule.zone === 'adapters/') {
    return target.startsWith('adapters/') && islandOf(from) === islandOf(target)
  }
  return matches(rule.zone, target)
}

function judge(rule: ZoneRule, from: string, fact: ImportFact, files: ReadonlySet<string>) {
  if (fact.specifier === null) {
    return from === configLoader ? null : 'imports a module whose name is computed'
  }
  const target = resolve(from, fact.specifier, files)
  if (target === null) return `imports ${fact.specifier}, which does not exist`
  const isReserved = reserved.has(target) && reserved.get(target) !== from
  if (isReserved && fact.kind === 'value') return `may import ${target} by "import type" only`
  if (sameZone(rule, from, target)) return null
  if (rule.values.some((entry) => matches(entry, target))) return null
  if (!rule.types.some((entry) => matches(entry, target))) {
    return `may not import ${target}`
  }
  return fact.kind === 'type' ? null : `may import ${target} by "import type" only`
}

/** Every import that the folder rules forbid, as `path:line: what is wrong`. */
export function importViolations(
  parsed: ParsedSource,
  files: ReadonlySet<string>,
): readonly string[] {
  const rule = rules.find(({ zone }) => matches(zone, parsed.path))
  if (rule === undefined) return [`${parsed.path}:1: belongs to no folder of the import rules`]
  return parsed.imports.flatMap((fact) => {
    const problem = judge(rule, parsed.path, fact, files)
    return problem === null ? [] : [`${parsed.path}:${fact.line}: ${problem}`]
  })
}
