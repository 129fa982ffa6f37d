import { elementPrefix, readRecordList } from '../engine/configuration/config-keys.js'
import type { ModuleDeclaration } from '../engine/configuration/module-declaration.js'
import { checkValues, type FieldRule } from '../engine/configuration/module-values.js'
import {
  encryptedProblem,
  isSealedText,
  valueProblem as plainProblem,
} from '../engine/configuration/stored-value.js'
import { ConfigValidationError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { oauthProviders, providerIds, providerSettings } from './oauth-providers.js'
import type { Setting } from './setting.js'
import {
  authModuleName,
  authSettingDeclarations,
  findSetting,
  type SettingKey,
} from './settings.js'

/** The library's own settings, as a module like any other. */
export const authModule: ModuleDeclaration = {
  name: authModuleName,
  environments: ['production', 'sandbox'],
  fields: authSettingDeclarations,
}

/** As `valueProblem` of a setting, with the code that callers are given. */
export const authRule: FieldRule = (declaration, text) => {
  const setting = findSetting(declaration.key)
  const problem = setting === undefined ? null : valueProblem(setting, text)
  if (problem === null) return null
  const plain = plainProblem(declaration, text)
  if (plain?.code === 'value_malformed') return { code: plain.code, problem }
  return { code: setting?.code ?? 'value_out_of_range', problem }
}

/** Where a setting's value comes from: the environment is asked for one of them alone. */
export function authSourceOf(env: Readonly<Record<string, string | undefined>>) {
  return (key: string, stored: string | undefined): 'store' | 'env' | 'default' => {
    const setting = findSetting(key)
    const isSet = setting?.isSetWhenEmpty ? stored !== undefined : Boolean(stored)
    if (isSet) return 'store'
    return setting?.isSetBy?.(env) ? 'env' : 'default'
  }
}

/**
 * What is wrong with `text` as a new value of a setting that is not a record list, as the second
 * half of a sentence; null when nothing is. An empty text clears a setting and is always right.
 * Never repeats the text, which may be a secret.
 */
export function valueProblem(setting: Setting<unknown>, text: string): string | null {
  if (text === '') return null
  const inLine = setting.hasLines ? text.replace(/[\r\n]/g, '') : text
  if (/[\p{Cc}\p{Cs}]/u.test(inLine)) return 'must not contain control characters or broken Unicode'
  if (isSealedText(text)) return encryptedProblem.problem
  return setting.accepts(text) ? null : setting.form
}

/** As `createAuth({ surfaces })` names them. */
export type SurfaceName = 'operator' | 'client'

interface Environment {
  /** Its texts, secrets decrypted. */
  readonly values: Readonly<Record<string, string>>
}

interface Patched extends Environment {
  readonly changedKeys: readonly string[]
}

/**
 * The validators of the `auth` module. An edit is judged by what it touches, so that one damaged
 * value, or a bad first value, cannot stop every other edit; an environment about to become
 * active is judged as a whole. `adminStepUp` is the host's option of that name; on the surfaces of `declared` people sign
 * in by a provider that the host declares, whatever the settings say.
 */
export function authValidators(
  isPublicAddress: IsPublicAddress,
  adminStepUp: boolean,
  declared: readonly SurfaceName[] = [],
) {
  return {
    validatePatch({ values, changedKeys }: Patched): ConfigValidationError | null {
      const changed = new Set(changedKeys)
      const isTouched = (key: string) => changed.has(key)
      const elements = new Set(changedKeys.map(elementOf))
      return (
        listProblem(values, (prefix) => elements.has(prefix), isPublicAddress) ??
        providerProblem(values, isTouched) ??
        loginMethodProblem(values, isTouched, declared) ??
        factorKindProblem(values, isTouched, adminStepUp)
      )
    },

    validateActivation({ values }: Environment): ConfigValidationError | null {
      const { name: module, fields: declarations } = authModule
      const everything = { module, declarations, before: {}, values, changed: Object.keys(values) }
      const always = () => true
      return (
        checkValues(everything, authRule) ??
        // The host's code may have given them. No edit brings what only the code may give.
        listProblem(values, always, isPublicAddress, true) ??
        providerProblem(values, always) ??
        loginMethodProblem(values, always, declared) ??
        factorKindProblem(values, always, adminStepUp)
      )
    },
  }
}

/** What all keys of an element begin with, taken from one of them. */
function elementOf(key: string): string {
  return key.slice(0, key.lastIndexOf('.') + 1)
}

type Values = Readonly<Record<string, string>>

type Key = keyof typeof oauthProviders

interface Provider {
  readonly name: string
  readonly operator: Key
  readonly client: Key
  /** What it cannot work without: a credential with a default is never missing. */
  readonly credentials: readonly Key[]
}

const providers: readonly Provider[] = providerIds.map((id) => {
  const { name, credentials } = providerSettings[id]
  return {
    name,
    operator: `${id}OperatorEnabled`,
    client: `${id}ClientEnabled`,
    credentials: Object.values(credentials).filter(
      (key) => oauthProviders[key].declaration.default === undefined,
    ),
  }
})

const surfaces = [
  { surface: 'operator', password: 'passwordLoginOperatorEnabled' },
  { surface: 'client', password: 'passwordLoginClientEnabled' },
] as const

/** Refuses an enabled provider without its credentials, if `isTouched` says so of any of its keys. */
export function providerProblem(
  values: Values,
  isTouched: (key: SettingKey) => boolean,
): ConfigValidationError | null {
  for (const { name, operator, client, credentials } of providers) {
    if (![operator, client, ...credentials].some(isTouched)) continue
    if (!isOn(values, operator) && !isOn(values, client)) continue
    const missing = credentials.find((key) => (values[key] ?? '') === '')
    if (missing === undefined) continue
    const message = `"${missing}" must be set while ${name} is enabled. Set it, or disable ${name}.`
    return new ConfigValidationError(missing, message, 'auth.oauth_incomplete')
  }
  return null
}

/**
 * Refuses a surface on which no user can sign in: without password login, without a provider, and
 * without passkeys in place of both factors.
 */
export function loginMethodProblem(
  values: Values,
  isTouched: (key: SettingKey) => boolean,
  declared: readonly SurfaceName[] = [],
): ConfigValidationError | null {
  for (const { surface, password } of surfaces) {
    if (declared.includes(surface)) continue
    const switches = providers.map((provider) => provider[surface])
    const methods: readonly SettingKey[] = [password, 'webauthnMode', ...switches]
    if (!methods.some(isTouched)) continue
    // Only 'false' is off: any other text in the store reads as the default, which is on.
    if (values[password] !== 'false' || switches.some((key) => isOn(values, key))) continue
    if (values['webauthnMode'] === 'passwordless') continue
    const message = `The ${surface} surface has no login method. Keep "${password}" on, enable a provider, or set "webauthnMode" to "passwordless".`
    return new ConfigValidationError(password, message, 'auth.no_login_method')
  }
  return null
}

function isOn(values: Values, key: SettingKey): boolean {
  return values[key] === 'true'
}

const policies = ['mfaPolicyOperator', 'mfaPolicyClient'] as const
const kinds = ['totpEnabled', 'webauthnMode'] as const

/**
 * Refuses to leave a second factor demanded and every kind of it off: a user without one could not enroll one. With
 * `adminStepUp`, configuration writes demand one whatever the policies are.
 */
export function factorKindProblem(
  values: Readonly<Record<string, string>>,
  isTouched: (key: SettingKey) => boolean,
  adminStepUp: boolean,
): ConfigValidationError | null {
  if (![...policies, ...kinds].some(isTouched)) return null
  // Any other text in the store reads as the default: both kinds on, no policy required.
  const isAllOff = values['totpEnabled'] === 'false' && values['webauthnMode'] === 'off'
  if (!isAllOff) return null
  const demanding = policies.find((key) => values[key] === 'required')
  if (demanding === undefined && !adminStepUp) return null
  const who =
    demanding === undefined
      ? 'Configuration writes demand a second factor (adminStepUp)'
      : `"${demanding}" demands a second factor`
  const message = `${who}, and every kind of it would be off. Keep "totpEnabled" or "webauthnMode" on.`
  return new ConfigValidationError(demanding ?? 'totpEnabled', message, 'auth.no_mfa_method')
}

/**
 * Refuses an element's address or domain that cannot be meant, where `isTouched` names its keys. `firstValues`: it may be
 * what only the host's code and environment may give.
 */
export function listProblem(
  values: Readonly<Record<string, string>>,
  isTouched: (elementPrefix: string) => boolean,
  isPublicAddress: IsPublicAddress,
  firstValues = false,
): ConfigValidationError | null {
  for (const { key } of authSettingDeclarations) {
    const rule = findSetting(key)?.list
    if (rule === undefined) continue
    for (const element of readRecordList({ key, items: rule.items }, values)) {
      const prefix = elementPrefix(key, element.slug)
      const text = element[rule.item] ?? ''
      if (text === '' || !isTouched(prefix)) continue
      const found = rule.problem(text, element, { firstValues, isPublicAddress })
      if (found !== null) {
        const place = prefix + rule.item
        return new ConfigValidationError(place, `"${place}" ${found}.`, rule.code)
      }
    }
  }
  return null
}
