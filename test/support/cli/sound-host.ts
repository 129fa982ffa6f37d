import { type AuthOptions, createAuth, generateSigningKey } from 'postern'
import { configKey } from '../keys.js'
import { type Configured, configured } from './configured.js'

let current: Promise<string> | undefined

/** The options of a host that `postern doctor` has nothing to say of. */
export async function soundOptions(): Promise<Partial<AuthOptions>> {
  current ??= generateSigningKey()
  const keys = { current: await current }
  const settings = { totpIssuer: 'Acme' }
  return { keys, configKeys: [configKey('sound')], trustProxy: 1, hash: {}, env: {}, settings }
}

/** A host with these options whose database was migrated. `before` are the options at that time, where they differ. */
export async function migratedHost(
  given: Partial<AuthOptions> = {},
  before: Partial<AuthOptions> = {},
  surroundings: Parameters<typeof configured>[1] = {},
): Promise<Configured> {
  const sound = await soundOptions()
  const named = (options: Partial<AuthOptions>) =>
    options.settings && { settings: { ...sound.settings, ...options.settings } }
  const place = await configured({ ...sound, ...given, ...named(given) }, surroundings)
  const auth = await createAuth({ ...place.options, ...before, ...named(before) })
  await auth.migrate()
  await auth.close()
  return place
}
