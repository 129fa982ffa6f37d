import type { RedisClient } from '../../../adapters/redis/client.js'

/**
 * Passes everything on to an `ioredis` client and keeps the commands sent by `call`. When it is
 * `forgetful`, scripts are unknown to the server and so are sent as a whole.
 */
export function recordingRedis(
  client: RedisClient,
  { forgetful = false } = {},
): {
  readonly client: RedisClient
  readonly sent: (readonly string[])[]
} {
  if (!('call' in client)) throw new TypeError('an ioredis client is needed')
  const sent: (readonly string[])[] = []
  const recording = new Proxy(client, {
    get(target, name) {
      if (name !== 'call') return Reflect.get(target, name)
      return (command: string, args: string[]) => {
        sent.push([command, ...args])
        if (forgetful && command === 'evalsha') throw new Error('NOSCRIPT No matching script')
        return target.call(command, args)
      }
    },
  })
  return { client: recording, sent }
}
