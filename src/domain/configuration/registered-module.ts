import type { ModuleDefinition } from '../../config/define-module.js'
import {
  type OpenedValues,
  openValues,
  planReencryption,
  type ReencryptionPlan,
  type SecretBox,
  sealValues,
} from '../../crypto/secret-box.js'
import type { FieldDeclaration } from '../../engine/configuration/config-declaration.js'
import { fieldsByKey, keyLocator } from '../../engine/configuration/config-keys.js'
import type { FieldRule } from '../../engine/configuration/module-values.js'
import {
  type PublicValues,
  publicValues,
  secretTest,
} from '../../engine/configuration/revisions.js'
import { mapTexts, valueProblem } from '../../engine/configuration/stored-value.js'

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
