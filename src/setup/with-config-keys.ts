import type { ConfigKey } from '../crypto/secret-box.js'
import { OptionsError } from '../errors/index.js'
import type { AuthOptions } from '../options.js'
import { configKeysShape } from './option-shapes.js'

/** The host's options, with the keys of the configuration read. */
export interface ReadOptions extends AuthOptions {
  readonly configKeys?: readonly ConfigKey[]
}

/**
 * Calls `configKeys` where it is a function. Rejects with an `OptionsError` where it fails, which has what it failed with as
 * its cause, or where it answers no list of keys.
 */
export async function withConfigKeys(options: AuthOptions): Promise<ReadOptions> {
  const { configKeys, ...rest } = options
  if (configKeys === undefined) return rest
  if (typeof configKeys !== 'function') return { ...rest, configKeys }
  return { ...rest, configKeys: await readKeys(configKeys) }
}

async function readKeys(read: () => Promise<readonly ConfigKey[]>): Promise<readonly ConfigKey[]> {
  let answer: readonly ConfigKey[]
  try {
    answer = await read()
  } catch (cause) {
    throw new OptionsError('configKeys', 'is a function that failed; see the cause', { cause })
  }
  const checked = configKeysShape.safeParse(answer)
  if (checked.success) return checked.data
  throw new OptionsError(
    'configKeys',
    'is a function that must resolve with an array of { id, key }; the first one encrypts',
  )
}
