/**
 * The result of `config.reencrypt`. The secret of an authenticator app is of the module `totp`, with its surface as
 * `environment` and its user's id as `key`.
 */
export interface Reencryption {
  /** The number of values that are encrypted under the current key now and were not before. */
  readonly reencrypted: number
  /**
   * The values that no key decrypts. They are unchanged. Authenticator apps are looked for by the ids of
   * `configKeys`: one that is under a key of another id is not among them.
   */
  readonly damaged: readonly {
    readonly module: string
    readonly environment: string
    readonly key: string
  }[]
}

/** One result of many. */
export function joinReencryptions(all: readonly Reencryption[]): Reencryption {
  return {
    reencrypted: all.reduce((sum, one) => sum + one.reencrypted, 0),
    damaged: all.flatMap((one) => one.damaged),
  }
}
