import type { ModuleDefinition } from '../config/define-module.js'
import { type ConfigKey, type SecretBox, secretBox } from '../crypto/secret-box.js'
import type { ConfigReader } from '../domain/configuration/config-store.js'
import {
  type RegisteredModule,
  registeredModule,
  type Texts,
} from '../domain/configuration/config-views.js'
import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import { assertModule } from '../engine/configuration/module-declaration.js'
import { AuthError, DeclarationError, OptionsError, SecretKeyError } from '../errors/index.js'
import type { GivenOptions, GivenSurfaces } from '../options.js'
import type { Logger, Random } from '../ports/host.js'
import { authModule, authRule, authSourceOf, authValidators } from '../settings/auth-module.js'
import { authSeedsFromEnv, seedFromEnv, toStoredValues } from '../settings/initial-values.js'
import { loadedSettings } from '../settings/loaded-settings.js'
import { readIdleWindow } from '../settings/login-and-sessions-settings.js'
import { type AuthSettings, authModuleName, type InitialSettings } from '../settings/settings.js'
import { isPublicAddress } from '../system/system-fetcher.js'

// What the configuration store is made of: modules, the keys of their secrets, and the settings in force.

export type Env = Readonly<Record<string, string | undefined>>

const variable = 'CONFIG_ENCRYPTION_KEY'

/**
 * The library's own module and the host's, by name. Throws an `OptionsError` when one is not declared
 * correctly.
 */
export function modulesOf(
  options: Pick<GivenOptions, 'adminStepUp' | 'modules' | 'providers'> &
    Partial<Pick<GivenOptions, 'surfaces'>>,
  authSeeds: Texts,
  env: Env,
  box: SecretBox,
): ReadonlyMap<string, RegisteredModule> {
  const auth = { seeds: authSeeds, rule: authRule, sourceOf: authSourceOf(env) }
  const { adminStepUp = false } = options
  const fields = authModule.fields.map((field) => saidIdle(field, options.surfaces))
  const validators = authValidators(isPublicAddress, adminStepUp, surfacesOf(options))
  const own: ModuleDefinition = { ...authModule, fields, ...validators }
  const modules = new Map([[own.name, registeredModule(own, auth, box)]])
  for (const [index, definition] of (options.modules ?? []).entries()) {
    const option = `modules.${index}`
    assertDeclared(option, definition)
    if (modules.has(definition.name)) {
      throw new OptionsError(option, `must not be named "${definition.name}": another module is`)
    }
    const seeds = seedFromEnv(definition.fields, env)
    modules.set(definition.name, registeredModule(definition, { seeds }, box))
  }
  return modules
}

/**
 * Where people sign in by what the host's options offer: declared providers, and mailed codes. Those who administer may
 * not use a code, so that it keeps nobody of the operator surface from being locked out.
 */
export function surfacesOf({ providers = [], surfaces }: Partial<GivenOptions>) {
  const declared = providers.flatMap((provider) => provider.surfaces)
  return surfaces?.client?.mailedCode ? [...declared, 'client' as const] : declared
}

/** A setting of a surface that the host lacks stays declared and checked, and says that it does nothing. */
function saidIdle(field: FieldDeclaration, surfaces: GivenSurfaces | undefined): FieldDeclaration {
  const { surface = 'both', label } = field
  if (surface === 'both' || surfaces === undefined || surfaces[surface] !== undefined) return field
  return { ...field, label: `${label} (no effect: this host has no ${surface} surface)` }
}

function assertDeclared(option: string, definition: ModuleDefinition): void {
  try {
    assertModule(definition)
  } catch (cause) {
    if (!(cause instanceof DeclarationError)) throw cause
    throw new OptionsError(option, `is not declared correctly. ${cause.message}`, { cause })
  }
}

/**
 * The box for everything that is stored encrypted. Throws an `OptionsError` when there is no key: no
 * secret is ever stored in clear.
 */
export function secretBoxOf(
  keys: readonly ConfigKey[] | undefined,
  env: Env,
  random: Random,
): SecretBox {
  const key = env[variable] ?? ''
  const ring = keys ?? (key === '' ? [] : [{ id: 'default', key }])
  if (ring.length === 0) {
    throw new OptionsError(
      'configKeys',
      `must be given, or ${variable} be set: secrets in the configuration are stored encrypted. "openssl rand -base64 32" makes a key; keep it where you keep secrets.`,
    )
  }
  try {
    return secretBox(ring, random)
  } catch (cause) {
    if (!(cause instanceof SecretKeyError)) throw cause
    const where = keys === undefined ? ` (from ${variable})` : ''
    throw new OptionsError(
      'configKeys',
      `holds a key that cannot be used${where}. ${cause.message}`,
      { cause },
    )
  }
}

/**
 * The settings in force, frozen and at most 30 seconds old: one object until another revision was read, or nothing for
 * 30 seconds. Rejects with `service_unavailable` when they cannot be known; defaults never take their place.
 * What is not as it was meant is logged once a revision.
 */
export function liveSettings(
  reader: ConfigReader,
  env: Env,
  logger: Logger,
  {
    adminStepUp = false,
    ...options
  }: Pick<Partial<GivenOptions>, 'adminStepUp' | 'providers' | 'surfaces'> = {},
): () => Promise<AuthSettings> {
  const refuse = () => {
    throw new AuthError('service_unavailable')
  }
  return reader.parsed(authModuleName, (loaded, isNew) => {
    const { settings, warnings } = loadedSettings(loaded, env, refuse, surfacesOf(options))
    if (!isNew) return settings
    for (const text of warnings) logger.warn(text)
    if (demandsNoFactorThereIs(settings, adminStepUp)) {
      logger.warn(
        'a second factor is demanded, and every kind of second factor is off: who has none cannot enroll one; switch totpEnabled or webauthnMode on',
      )
    }
    return settings
  })
}

/** What is fixed from the start, with a warning for all that is not as it was meant. */
export function loadSettings(
  initial: InitialSettings,
  env: Env,
  logger: Logger,
): {
  readonly idleMs: number
  /** The texts of what was given, first values of the configuration store. */
  readonly seeds: Readonly<Record<string, string>>
} {
  const seeds = { ...authSeedsFromEnv(env), ...toStoredValues(initial, isPublicAddress) }
  const { ms: idleMs, warning } = readIdleWindow(env)
  if (warning !== undefined) logger.warn(warning)
  return { idleMs, seeds }
}

/** An edit that comes to this is refused; first values, and a later `adminStepUp`, are not. */
function demandsNoFactorThereIs(settings: AuthSettings, adminStepUp: boolean): boolean {
  const { totpEnabled, webauthnMode, mfaPolicyOperator, mfaPolicyClient } = settings
  const isDemanded = [mfaPolicyOperator, mfaPolicyClient].includes('required') || adminStepUp
  return isDemanded && !totpEnabled && webauthnMode === 'off'
}
