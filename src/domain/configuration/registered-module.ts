import type { ModuleDefinition } from '../../config/define-module.js'
import {
  type OpenedValues,
  openValues,
  planReencryption,
  type ReencryptionPlan,
  sealValues,
} from '../../crypto/sealed-values.js'
import type { SecretBox } from '../../crypto/secret-box.js'
import type { FieldRule } from '../../engine/configuration/check-values.js'
import type { FieldDeclaration } from '../../engine/configuration/config-declaration.js'
import { type PublicValues, publicValues } from '../../engine/configuration/revision-diff.js'
import { secretTest } from '../../engine/configuration/secret-keys.js'
import { valueProblem } from '../../engine/configuration/stored-value.js'

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
  isSecret(key: string): boolean
  /** Of stored or plain texts, those that may be shown and kept. */
  redact(values: Texts): PublicValues
  /**
   * `plain`: keys whose texts are not encrypted yet. Secrets that are declared no more are left out:
   * no caller may use them, and `secretsIn` would not know them for secrets.
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
  return {
    name: module,
    definition,
    fields,
    environments,
    seeds,
    rule,
    sourceOf,
    isSecret: (key) => isSecret(key, ''),
    redact: (values) => publicValues(values, fields),
    open(environment, stored, plain = []) {
      const isPlain = new Set(plain)
      const isSealed = (key: string, text: string) => !isPlain.has(key) && isSecret(key, text)
      const isInUse = ([key, text]: [string, string]) => isSecret(key, '') || !isSealed(key, text)
      const inUse = Object.fromEntries(Object.entries(stored).filter(isInUse))
      return openValues(inUse, isSealed, box, { module, environment })
    },
    secretsIn: (values) =>
      Object.entries(values).flatMap(([key, text]) => (isSecret(key, text) ? [text] : [])),
    seal: (environment, values, changed) =>
      sealValues({ values, changed }, isSecret, box, { module, environment }),
    planReencryption: (environment, stored) =>
      planReencryption(stored, isSecret, box, { module, environment }),
  }
}

function storeOrDefault(_key: string, stored: string | undefined): ValueSource {
  return stored === undefined || stored === '' ? 'default' : 'store'
}
