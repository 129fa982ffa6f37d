export type ConfigEvent =
  | {
      /**
       * An environment has a new revision. `config.seeded` stored first values at the first start;
       * `config.reencrypted` stored the same values under the current key. It holds keys, never values.
       */
      readonly type: 'config.changed' | 'config.seeded' | 'config.reencrypted'
      /** Null for the library itself. */
      readonly actorId: string | null
      readonly module: string
      readonly environment: string
      readonly revision: number
      readonly keys: readonly string[]
    }
  | {
      /** Another environment of the module is the active one now. */
      readonly type: 'config.activated'
      readonly actorId: string
      readonly module: string
      readonly environment: string
      /** The environment that was active before. */
      readonly previous: string
    }
