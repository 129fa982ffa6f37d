import { refuseUnknown } from '../shared/refuse-unknown.js'

/** The options of `redis`. */
export interface RedisOptions {
  /**
   * Put before the name of every collection in its keys: `{postern:operator_users}:…`. Letters, digits
   * and `.`, `_`, `:`, `-`, at most 64 characters. Default `postern:`.
   */
  readonly keyPrefix?: string
  /**
   * For a server that does not let this user run `INFO`: you have checked elsewhere that its
   * `maxmemory-policy` is `noeviction`. Ignored where `INFO` can be run. Default false.
   */
  readonly assumeNoEviction?: boolean
}

/** Throws a `TypeError` that names the option which cannot be. */
export function checkOptions({ keyPrefix, assumeNoEviction, ...rest }: RedisOptions): void {
  refuseUnknown('redis', rest)
  if (keyPrefix !== undefined && !isPrefix(keyPrefix)) {
    throw new TypeError(
      `redis: option "keyPrefix" must be letters, digits and ".", "_", ":", "-", at most 64, ` +
        `such as "auth:"; it is ${JSON.stringify(keyPrefix)}`,
    )
  }
  if (assumeNoEviction !== undefined && typeof assumeNoEviction !== 'boolean') {
    throw new TypeError('redis: option "assumeNoEviction" must be true or false')
  }
}

function isPrefix(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9._:-]{0,64}$/.test(value)
}
