import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { newPrefix } from '../../bench/harness/redis-prefix.js'

const url = inject('redisUrl')

const title = 'the keys of a benchmark on Redis'

describe.skipIf(!url)(url ? title : `${title} (Redis not found)`, () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  afterAll(() => client.disconnect())

  it('are removed in both forms that stores give them, and no others are', async () => {
    const { prefix, remove } = newPrefix({ url: url ?? '', release: async () => {} })
    const own = [`${prefix}name`, `{${prefix}client_users}:d:1`]
    const foreign = `postern-test-${randomUUID()}`
    for (const key of [...own, foreign]) await client.set(key, '1', 'EX', 60)
    await remove()
    expect(await client.exists(...own)).toBe(0)
    expect(await client.del(foreign)).toBe(1)
  })
})
