/** A connected client of the package `redis`: `createClient`. */
export interface NodeRedisClient {
  readonly isOpen: boolean
  readonly options: NodeRedisOptions | undefined
  sendCommand(args: string[], options?: NodeRedisCommandOptions): Promise<unknown>
}

/** A connected cluster of the package `redis`: `createCluster`. */
export interface NodeRedisCluster {
  readonly isOpen: boolean
  readonly masters: readonly object[]
  nodeClient(node: never): NodeRedisClient | Promise<NodeRedisClient>
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: string[],
    options?: NodeRedisCommandOptions,
  ): Promise<unknown>
}

/** The option of a `redis` client that decides when a write happens. */
export interface NodeRedisOptions {
  readonly disableOfflineQueue?: boolean | undefined
}

/** The options with which commands of a `redis` client are sent. */
export interface NodeRedisCommandOptions {
  readonly typeMapping?: Readonly<Record<never, never>>
}

/** The options of an `ioredis` client that decide when a write happens, and whether it could do so twice. */
export interface IoredisOptions {
  readonly enableOfflineQueue?: boolean | undefined
  readonly autoResendUnfulfilledCommands?: boolean | undefined
  readonly maxRetriesPerRequest?: number | null | undefined
  readonly readOnly?: boolean | undefined
  readonly role?: string | undefined
}

/** A `Redis` of the package `ioredis`. */
export interface IoredisClient {
  readonly status: string
  readonly options: IoredisOptions
  call(command: string, args: string[]): Promise<unknown>
}

/** A `Cluster` of the package `ioredis`. */
export interface IoredisCluster {
  readonly status: string
  readonly isCluster: boolean
  readonly options: {
    readonly enableOfflineQueue?: boolean | undefined
    readonly scaleReads?: unknown
    readonly retryDelayOnFailover?: number | undefined
    readonly clusterNodeRetryStrategy?: unknown
    readonly redisOptions?: IoredisOptions | undefined
  }
  nodes(role: 'master'): readonly IoredisClient[]
  call(command: string, args: string[]): Promise<unknown>
}

/** A client or cluster of `redis` or `ioredis`. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoredisClient | IoredisCluster
