import type { FieldDeclaration } from '../../engine/configuration/config-declaration.js'
import { judgeFirstValues } from '../../engine/configuration/module-values.js'
import { readValue } from '../../engine/configuration/stored-value.js'
import { environmentId } from '../../model/configuration.js'
import type { ConfigDeps, RegisteredModule, Texts } from './config-views.js'

type ConfigProblemKind =
  | 'unregistered'
  | 'unreadable'
  | 'olderKey'
  | 'noSecret'
  | 'invalid'
  | 'refused'
  | 'waiting'
  | 'differs'

/** What is not as it was meant in the values of a module. */
export interface ConfigProblem {
  /**
   * - `unregistered`: the module, or its environment, was never stored
   * - `unreadable`: no key of the ring opens the secret
   * - `olderKey`: the secret is under a key that is not the first of the ring
   * - `noSecret`: the text is an encrypted secret, and the field is declared as none
   * - `invalid`: the field may not hold the stored text
   * - `refused`: the field may not hold the first value, which was not stored
   * - `waiting`: the first value is not stored yet; the next start stores it
   * - `differs`: the first value in the code or the environment is not the one that is stored
   */
  readonly kind: ConfigProblemKind
  readonly module: string
  readonly environment: string
  /** Null for a problem that is not about one key. */
  readonly key: string | null
  /** The variable that may give the first value; null without one. */
  readonly envVar: string | null
  /** The second half of a sentence, of `invalid` and `refused`; else null. */
  readonly problem: string | null
}

export interface ModuleInspection {
  readonly module: string
  /** The texts of the active environment, secrets decrypted, without those that do not decrypt. */
  readonly values: Texts
  readonly problems: readonly ConfigProblem[]
}

type Deps = Pick<ConfigDeps, 'collections' | 'modules'>

/** Looks at what is stored, past every cache, and writes nothing: a module that is not there is not registered. */
export async function inspectConfig(deps: Deps): Promise<readonly ModuleInspection[]> {
  return Promise.all([...deps.modules.values()].map((module) => inspectModule(deps, module)))
}

async function inspectModule(
  { collections }: Deps,
  module: RegisteredModule,
): Promise<ModuleInspection> {
  const stored = await collections.modules.get(module.name)
  const active = stored?.activeEnvironment ?? module.environments[0] ?? ''
  const names = [...new Set([active, ...module.environments])]
  const found = await Promise.all(
    names.map((name) => collections.environments.get(environmentId(module.name, name))),
  )
  const [first = null] = found
  if (stored === null || first === null) {
    const problem = { key: null, envVar: null, problem: null }
    const problems = [
      { kind: 'unregistered' as const, module: module.name, environment: active, ...problem },
    ]
    return { module: module.name, values: {}, problems }
  }
  const secrets = found.flatMap((environment, at) =>
    environment === null ? [] : secretProblems(module, names[at] ?? '', environment.values),
  )
  const { values } = module.open(active, first.values)
  const owned = new Set(found.flatMap((one) => Object.keys(one?.values ?? {}).map(fieldOf)))
  const judged = valueProblems(module, active, { stored: first.values, values, owned })
  return { module: module.name, values, problems: [...secrets, ...judged] }
}

function secretProblems(
  module: RegisteredModule,
  environment: string,
  stored: Texts,
): readonly ConfigProblem[] {
  const { texts, unreadable } = module.planReencryption(environment, stored)
  const of = (kind: ConfigProblem['kind']) => (key: string) =>
    problemOf(module, environment, { kind, key })
  const lost = new Set(unreadable)
  const others = module.open(environment, stored).unreadable.filter((key) => !lost.has(key))
  return [
    ...unreadable.map(of('unreadable')),
    ...others.map(of('noSecret')),
    ...Object.keys(texts).map(of('olderKey')),
  ]
}

interface StoredValues {
  readonly stored: Texts
  readonly values: Texts
  /** The fields that have a value in any environment: no start gives them another. */
  readonly owned: ReadonlySet<string>
}

function valueProblems(
  module: RegisteredModule,
  environment: string,
  { stored, values, owned }: StoredValues,
): readonly ConfigProblem[] {
  const { fields, rule, seeds } = module
  const invalid = judgeFirstValues(values, fields, rule).refused
  const given = judgeFirstValues(seeds, fields, rule)
  const of =
    (kind: ConfigProblem['kind']) =>
    ({ field, problem }: { readonly field: FieldDeclaration; readonly problem?: string }) =>
      problemOf(module, environment, {
        ...{ kind, key: field.key, envVar: field.envVar ?? null },
        problem: problem ?? null,
      })
  const drifted = fields.filter((field) => {
    // A value that does not decrypt is reported as `unreadable`.
    const isReadable = Object.keys(stored).every(
      (key) => fieldOf(key) !== field.key || Object.hasOwn(values, key),
    )
    return isReadable && differs(field, given.usable, values)
  })
  const missing = given.refused.filter(({ field }) => !Object.hasOwn(stored, field.key))
  return [
    ...invalid.map(of('invalid')),
    ...missing.map(of('refused')),
    ...drifted.map((field) => of(owned.has(field.key) ? 'differs' : 'waiting')({ field })),
  ]
}

/** Whether a first value is given for the field and another one is stored. */
function differs(field: FieldDeclaration, seeds: Texts, values: Texts): boolean {
  const given = below(field, seeds)
  if (given.length === 0) return false
  const stored = new Map(below(field, values))
  const isSame = ([key, text]: readonly [string, string]) => {
    const is = stored.get(key)
    if (is === undefined || is === text) return is === text
    const value = readValue(field, text)?.value
    // Such as '15m' and '900s'.
    return value !== undefined && value === readValue(field, is)?.value
  }
  return given.length !== stored.size || !given.every(isSame)
}

/** The texts of a field: its own, or those of a list's elements. */
function below({ key }: FieldDeclaration, texts: Texts): readonly (readonly [string, string])[] {
  return Object.entries(texts).filter(([one]) => fieldOf(one) === key)
}

function fieldOf(key: string): string {
  return key.split('.')[0] ?? key
}

function problemOf(
  { name: module }: RegisteredModule,
  environment: string,
  given: Pick<ConfigProblem, 'kind' | 'key'> & Partial<ConfigProblem>,
): ConfigProblem {
  return { module, environment, envVar: null, problem: null, ...given }
}
