import type { RedisOptions } from './options.js'

/**
 * The keys of one collection. The part in braces is what a cluster places keys by, so that all of
 * them are in one slot and a script may change them together. No other keys are ever needed,
 * whatever indexes a collection has or will have, so a replica of an older version can name the keys
 * of an index it has not heard of, and keeps it.
 */
export interface Keys {
  /** Hash: what the collection is, as `prepare` left it. Its absence means "not prepared". */
  readonly schema: string
  /** Sorted set: every id, by its expiry; `+inf` for null. */
  readonly expiries: string
  /** Hash: the holder's id by the entry of each unique index. */
  readonly unique: string
  /** Sorted set, all scores 0: the entries of all other indexes, each followed by an id. */
  readonly indexed: string
  /** Hash: one document, or in `entry` collections (denylist, counter) all of them. */
  document(id: string): string
  readonly entries: string
}

export function keysOf(name: string, { keyPrefix = 'postern:' }: RedisOptions): Keys {
  const tag = `{${keyPrefix}${name}}`
  return {
    schema: `${tag}:s`,
    expiries: `${tag}:x`,
    unique: `${tag}:u`,
    indexed: `${tag}:i`,
    document: (id) => `${tag}:d:${id}`,
    entries: `${tag}:e`,
  }
}
