import type { Child, ChildOptions } from './child.js'
import type { BenchDatabase } from './postgres-database.js'
import type { RedisPrefix } from './redis-prefix.js'

/** The signing key that every contender of a run uses. */
export interface SigningKey {
  /** PKCS #8 */
  readonly privatePem: string
  /** SPKI */
  readonly publicPem: string
}

/** What a suite is given. Whatever it opens is closed after the suite, also when it fails. */
export interface Context {
  readonly rounds: number
  /** Only shows that everything starts: few requests, no peers, figures that mean nothing. */
  readonly smoke: boolean
  /** The Node that contenders run on. */
  readonly node: string
  readonly key: SigningKey
  /** `full` requests, or a few in a smoke run. */
  requests(full: number): number
  /** A database of its own; null where there is no Postgres, which the run names as missing. */
  database(): Promise<BenchDatabase | null>
  /** A key prefix of its own; null where there is no Redis. */
  redis(): Promise<RedisPrefix | null>
  /** Starts `bench/contenders/<file>` with what its `start` is given; resolves with its answer. */
  start<R>(file: string, given: unknown, options?: ChildOptions): Promise<Child<R>>
  progress(text: string): void
  /** Runs when the suite ended, the last added first. */
  atEnd(undo: () => Promise<void>): void
}
