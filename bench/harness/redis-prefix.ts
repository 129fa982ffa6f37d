import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import type { FoundRedis } from '../../test/support/stores/redis.js'

/** The keys of one suite on a Redis. */
export interface RedisPrefix {
  readonly url: string
  readonly prefix: string
  /** Removes every key with the prefix. Postern writes it into braces, so that a key begins with one. */
  remove(): Promise<void>
}

export function newPrefix({ url }: FoundRedis): RedisPrefix {
  const prefix = `postern-bench-${randomBytes(6).toString('hex')}:`
  return {
    url,
    prefix,
    remove: () =>
      onRedis(url, async (client) => {
        for await (const keys of client.scanStream({ match: `*${prefix}*`, count: 1000 })) {
          if (keys.length > 0) await client.unlink(...keys)
        }
      }),
  }
}

export async function redisVersion({ url }: FoundRedis): Promise<string> {
  return onRedis(url, async (client) => {
    const server = await client.info('server')
    return /redis_version:(\S+)/.exec(server)?.[1] ?? ''
  })
}

async function onRedis<R>(url: string, use: (client: Redis) => Promise<R>): Promise<R> {
  const client = new Redis(url)
  try {
    return await use(client)
  } finally {
    client.disconnect()
  }
}
