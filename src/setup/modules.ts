import type { ModuleDefinition } from '../config/define-module.js'
import { type ConfigKey, type SecretBox, secretBox } from '../crypto/secret-box.js'
import {
  type RegisteredModule,
  registeredModule,
  type Texts,
} from '../domain/configuration/config-views.js'
import { assertModule } from '../engine/configuration/module-declaration.js'
import { DeclarationError, OptionsError, SecretKeyError } from '../errors/index.js'
import type { AuthOptions } from '../options.js'
import type { Random } from '../ports/host.js'
import { authModule, authRule, authSourceOf, authValidators } from '../settings/auth-module.js'
import { seedFromEnv } from '../settings/initial-values.js'
import { isPublicAddress } from '../system/system-fetcher.js'

type Env = Readonly<Record<string, string | undefined>>

const variable = 'CONFIG_ENCRYPTION_KEY'

/**
 * The library's own module and the host's, by name. Throws an `OptionsError` when one is not declared
 * correctly.
 */
export function modulesOf(
  options: Pick<AuthOptions, 'adminStepUp' | 'modules'>,
  authSeeds: Texts,
  env: Env,
  box: SecretBox,
): ReadonlyMap<string, RegisteredModule> {
  const auth = { seeds: authSeeds, rule: authRule, sourceOf: authSourceOf(env) }
  const { adminStepUp = false } = options
  const own: ModuleDefinition = { ...authModule, ...authValidators(isPublicAddress, adminStepUp) }
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
