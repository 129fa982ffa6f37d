import { type AuthOptions, createAuth, generateSigningKey } from 'postern'
import { configKey } from '../keys.js'
import { type Configured, configured } from './configured.js'

let current: Promise<string> | undefined

/** The options of a host that `postern doctor` has nothing to say of. */
export async function soundOptions(): Promise<Partial<AuthOptions>> {
  current ??= generateSigningKey()
  const keys = { current: await current }
  return { keys, configKeys: [configKey('sound')], trustProxy: 1, hash: {}, env: {} }
}

/** A host with these options whose database was migrated. `before` are the options at that time, where they differ. */
export async function migratedHost(
  given: Partial<AuthOptions> = {},
  before: Partial<AuthOptions> = {},
  surroundings: Parameters<typeof configured>[1] = {},
): Promise<Configured> {
  const place = await configured({ ...(await soundOptions()), ...given }, surroundings)
  const auth = await createAuth({ ...place.options, ...before })
  await auth.migrate()
  await auth.close()
  return place
}
