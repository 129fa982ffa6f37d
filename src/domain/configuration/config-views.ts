import type { BackgroundTasks } from '../../concurrency/background-tasks.js'
import type { ModuleDefinition } from '../../config/define-module.js'
import {
  type OpenedValues,
  openValues,
  planReencryption,
  type ReencryptionPlan,
  type SecretBox,
  sealValues,
} from '../../crypto/secret-box.js'
import {
  type FieldDeclaration,
  FieldRecordList,
  isSecret,
} from '../../engine/configuration/config-declaration.js'
import {
  fieldsByKey,
  keyLocator,
  readRecordList,
  rosterKey,
} from '../../engine/configuration/config-keys.js'
import { type ConfigPatch, isPatchShaped } from '../../engine/configuration/config-patch.js'
import { type FieldRule, judgeFirstValues } from '../../engine/configuration/module-values.js'
import {
  type PublicValues,
  publicValues,
  secretTest,
} from '../../engine/configuration/revisions.js'
import { awaitsRestart } from '../../engine/configuration/running-processes.js'
import { mapTexts, readValue, valueProblem } from '../../engine/configuration/stored-value.js'
import { isStorable } from '../../engine/text.js'
import { AuthError } from '../../errors/index.js'
import {
  environmentId,
  type Module,
  type ModuleCollections,
  type ModuleEnvironment,
} from '../../model/configuration.js'
import type { Emit } from '../../ports/events.js'
import type { Clock, Logger, Random } from '../../ports/host.js'

/** A module in a list of modules. */
export interface ModuleSummary {
  readonly name: string
  readonly activeEnvironment: string
  /** Whether a process runs that began before the last activation. */
  readonly needsRestart: boolean
}

/** A module: its fields as they are declared, and its environments. */
export interface ModuleView extends ModuleSummary {
  readonly environments: readonly {
    readonly name: string
    readonly active: boolean
    readonly revision: number
  }[]
  readonly fields: readonly FieldView[]
}

/** A field as it is declared, and what its declaration does not tell. */
export interface FieldView extends FieldDeclaration {
  /** An empty text is a value of its own here, such as "no limit". Left out where it stands for the default. */
  readonly emptyIsValue?: true
}

/** An environment as administrators see it: a secret is a key in `secretsSet`, and no more. */
export interface EnvironmentView {
  readonly module: string
  readonly environment: string
  readonly active: boolean
  readonly revision: number
  /** The values of fields that were given one, an empty one included, and are neither secrets nor lists. */
  readonly config: Texts
  readonly secretsSet: readonly string[]
  readonly recordLists: readonly {
    readonly field: string
    readonly elements: readonly ElementView[]
  }[]
  /** Where each declared field's value comes from now. */
  readonly sources: Readonly<Record<string, ValueSource>>
}

/** Null for a secret. */
export interface ElementView {
  readonly slug: string
  readonly label: string
  readonly [subField: string]: string | null
}

/** As of `now`, because a process that crashed counts no longer after a while. */
export function moduleSummary(module: Module, now: number): ModuleSummary {
  const { id: name, activeEnvironment } = module
  return { name, activeEnvironment, needsRestart: awaitsRestart(module, now) }
}

export function fieldViews({ fields, sourceOf }: RegisteredModule): readonly FieldView[] {
  return fields.map((field) => {
    const isValue = field.type !== FieldRecordList && sourceOf(field.key, '') === 'store'
    return isValue ? { ...field, emptyIsValue: true } : field
  })
}

export function environmentView(
  module: RegisteredModule,
  environment: string,
  active: boolean,
  { revision, values }: Pick<ModuleEnvironment, 'revision' | 'values'>,
): EnvironmentView {
  // Without what is encrypted under a field that is declared as no secret any more.
  const shown = module.redact(values).values
  const own = module.fields.filter(
    (field) => field.type !== FieldRecordList && Object.hasOwn(shown, field.key),
  )
  const lists = module.fields.filter(({ type }) => type === FieldRecordList)
  return {
    module: module.name,
    environment,
    active,
    revision,
    config: Object.fromEntries(own.map(({ key }) => [key, shown[key] ?? ''])),
    secretsSet: module.secretsSet(values),
    recordLists: lists.map((list) => ({
      field: list.key,
      elements: elementsOf(list, shown),
    })),
    sources: Object.fromEntries(
      module.fields.map(({ key, type }) => {
        const place = type === FieldRecordList ? rosterKey(key) : key
        // A field may be named like a member of every object.
        return [key, module.sourceOf(key, Object.hasOwn(values, place) ? values[place] : undefined)]
      }),
    ),
  }
}

function elementsOf(list: FieldDeclaration, values: Texts): readonly ElementView[] {
  const secrets = (list.items ?? []).filter(isSecret)
  return readRecordList(list, values).map((element) => {
    const shown: Record<string, string | null> = { ...element }
    for (const { key } of secrets) shown[key] = null
    return { ...shown, slug: element.slug, label: element.label }
  })
}

export type Texts = Readonly<Record<string, string>>

/** Where a field's value comes from now. `env` is for the one field that asks it at each reading. */
export type ValueSource = 'store' | 'env' | 'default'

/** A module as the store works with it: its declaration, and what is done with its texts. */
export interface RegisteredModule {
  readonly name: string
  readonly definition: ModuleDefinition
  readonly fields: readonly FieldDeclaration[]
  /** The first one is active at first. */
  readonly environments: readonly string[]
  /** Plain texts for keys without a value. */
  readonly seeds: Texts
  /** What the text of a field must be like. */
  readonly rule: FieldRule
  sourceOf(key: string, stored: string | undefined): ValueSource
  /** The keys of secrets that have a value, in code-unit order. */
  secretsSet(values: Texts): readonly string[]
  /** Those of the given texts, stored or plain, that may be shown and kept. */
  redact(values: Texts): PublicValues
  /**
   * `plain`: keys whose texts are not encrypted yet. Secrets that are declared no more are left out:
   * no caller may use them, and `secretsIn` would not know them for secrets. One of a field that is no secret any more
   * is `unreadable`: it was given as a secret, and is to be set again.
   */
  open(environment: string, stored: Texts, plain?: readonly string[]): OpenedValues
  /** The secrets among plain texts. */
  secretsIn(values: Texts): readonly string[]
  /** `values` with the secrets among `keys` encrypted. */
  seal(environment: string, values: Texts, keys: readonly string[]): Texts
  planReencryption(environment: string, stored: Texts): ReencryptionPlan
}

export interface ModuleExtras {
  readonly seeds: Texts
  readonly rule?: FieldRule
  readonly sourceOf?: RegisteredModule['sourceOf']
}

export function registeredModule(
  definition: ModuleDefinition,
  { seeds, rule = valueProblem, sourceOf = storeOrDefault }: ModuleExtras,
  box: SecretBox,
): RegisteredModule {
  const { name: module, fields, environments } = definition
  const isSecret = secretTest(fields)
  const placeOf = keyLocator(fieldsByKey(fields))
  const secretKeys = (values: Texts) =>
    Object.keys(values).filter((key) => isSecret(key, values[key] ?? ''))
  return {
    name: module,
    definition,
    fields,
    environments,
    seeds,
    rule,
    sourceOf,
    redact: (values) => publicValues(values, fields),
    open(environment, stored, plain = []) {
      const isPlain = new Set(plain)
      const sealed = new Set<string>()
      const declaredPlain: string[] = []
      const inUse = mapTexts(stored, (key, text) => {
        if (isPlain.has(key) || !isSecret(key, text)) return text
        sealed.add(key)
        if (isSecret(key, '')) return text
        if (placeOf(key) !== null) declaredPlain.push(key)
        return null
      })
      const opened = openValues(inUse, (key) => sealed.has(key), box, { module, environment })
      return { ...opened, unreadable: [...opened.unreadable, ...declaredPlain] }
    },
    secretsSet: (values) =>
      secretKeys(values)
        .filter((key) => values[key] !== '')
        .sort(),
    secretsIn: (values) => secretKeys(values).map((key) => values[key] ?? ''),
    seal: (environment, values, changed) =>
      sealValues({ values, changed }, isSecret, box, { module, environment }),
    planReencryption: (environment, stored) =>
      planReencryption(stored, isSecret, box, { module, environment }),
  }
}

function storeOrDefault(_key: string, stored: string | undefined): ValueSource {
  return stored === undefined || stored === '' ? 'default' : 'store'
}

/** An edit of the host's code. */
export interface ConfigChange extends ConfigPatch {
  /**
   * Default: the environment that is active when the change begins, and after a lost race the one that is active then.
   * Changes of record lists have to name one.
   */
  readonly environment?: string
}

const shape =
  'A change must be { environment?, config?, recordLists?, revision? }: texts by key, lists as { field, create?, remove? }, a whole revision. No member of the change itself may be there and undefined.'

/** A change as the host's code gave it, which no compiler may have checked. Throws `invalid_request`. */
export function checkedChange(given: ConfigChange): ConfigChange {
  if (!isChange(given)) throw new AuthError('invalid_request', { detail: shape })
  return given
}

function isChange(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  // What was to name an environment or a revision is missing: the edit would go elsewhere, or over another one.
  if (Object.values(given).includes(undefined)) return false
  const { environment, ...patch } = { environment: undefined, ...given }
  return (environment === undefined || isStorable(environment)) && isPatchShaped(patch, isStorable)
}

/** What the parts of the configuration store share. Each takes the part it needs. */
export interface ConfigDeps {
  /** Does work that outlives its request. Default: there is no request. */
  readonly afterReply?: <T>(work: () => T) => T
  readonly collections: ModuleCollections
  /** By name; fixed at construction. */
  readonly modules: ReadonlyMap<string, RegisteredModule>
  readonly clock: Clock
  readonly random: Random
  readonly background: BackgroundTasks
  /** Emits events of the operator surface, which administers modules. */
  readonly emit: Emit
  readonly logger: Logger
}

/**
 * The result of `config.reencrypt`. The secret of an authenticator app is of the module `totp`, with its surface as
 * `environment` and its user's id as `key`.
 */
export interface Reencryption {
  /** The number of values that are encrypted under the current key now and were not before. */
  readonly reencrypted: number
  /**
   * The values that no key decrypts. They are unchanged. Authenticator apps are looked for by the ids of
   * `configKeys`: one that is under a key of another id is not among them.
   */
  readonly damaged: readonly {
    readonly module: string
    readonly environment: string
    readonly key: string
  }[]
}

/** One result of many. */
export function joinReencryptions(all: readonly Reencryption[]): Reencryption {
  return {
    reencrypted: all.reduce((sum, one) => sum + one.reencrypted, 0),
    damaged: all.flatMap((one) => one.damaged),
  }
}

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
