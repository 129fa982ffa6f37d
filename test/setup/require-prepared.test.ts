import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { redis } from '../../adapters/redis/index.js'
import { createAuth } from '../../src/create-auth.js'
import type { Backend } from '../../src/ports/backend.js'
import { testConfigKeys, testSigningKey } from '../support/keys.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import { recordingMailer } from '../support/outside/recording-mailer.js'
import {
  newPrefix,
  type OpenClient,
  removeKeys,
  singleClients,
} from '../support/stores/redis-clients.js'

/** Migrates a host on this backend. */
async function start(backend: Backend): Promise<void> {
  const auth = await createAuth({
    backend,
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    },
    mailer: recordingMailer(),
    env: {},
    logger: recordingLogger(),
  })
  try {
    await auth.migrate()
  } finally {
    await auth.close()
  }
}

describe('a port of another backend than the store', () => {
  const broken = async () => Promise.reject(new Error('no such place'))

  it.each<[string, Partial<Backend>]>([
    ['denylist', { denylist: { put: broken, find: broken, sweep: broken } }],
    ['lease', { lease: { read: broken, replace: broken } }],
    ['counter', { counter: { hit: broken, forgive: broken, sweep: broken } }],
  ])('stops the start by name when the %s does not answer', async (member, ports) => {
    const { message } = await start({ ...memory(), ...ports }).then(
      () => Promise.reject(new Error('it started')),
      (error: Error) => error,
    )
    expect(message).toMatch(
      new RegExp(`^auth\\.migrate: backend\\.${member} .*prepare\\(\\[\\]\\)`),
    )
  })
})

const url = inject('redisUrl')

describe.skipIf(!url)(url ? 'Redis alone' : 'Redis alone (Redis not found)', () => {
  const keyPrefix = newPrefix()
  let open: OpenClient
  beforeAll(async () => {
    open = await singleClients['node-redis'](url ?? '')
  })
  afterAll(async () => {
    await open.close()
    await removeKeys(url ?? '', keyPrefix)
  })

  it('that was not prepared fails at the start, and serves once it was', async () => {
    const { store, denylist, counter, lease } = redis(open.client, { keyPrefix })
    const parts: readonly Partial<Backend>[] = [{ denylist }, { counter }, { lease }]
    for (const part of parts) {
      await expect(start({ ...memory(), ...part })).rejects.toMatchObject({
        message: expect.stringContaining(`backend.${Object.keys(part).join()}`),
        cause: { cause: { name: 'NotMigratedError' } },
      })
    }
    await store.prepare([])
    for (const part of parts) await start({ ...memory(), ...part })
  })
})
