import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { collectionsOf } from '../../../src/model/collections.js'
import { nginx, startNginx } from '../../support/hosts/nginx.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { startHost } from '../host.js'
import { type Grant, grantOf, type Host, hostAt, type Login } from '../host-client.js'
import { lineFrom } from '../moving-clock.js'
import { newKey } from '../replicas.js'

const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')
/** What the page on operating advises. */
const location = /```nginx\n([^`]*)```/.exec(page)?.[1] ?? ''

/** Two replicas on one store, and the proxy before them. */
async function openSite() {
  const backend = memory()
  const ring = { current: newKey() }
  const config = {
    clock: lineFrom(Date.now()),
    options: { sweep: false, trustProxy: 1 },
    planted: null,
  } as const
  const replicas = [
    await startHost(backend, ring, config),
    await startHost(backend, ring, config),
  ] as const
  const proxy = await startNginx(
    nginx ?? '',
    replicas.map(({ url }) => url),
    location,
  )
  const [first, second] = replicas
  const site = hostAt(proxy.url)
  onTestFinished(async () => {
    site.hangUp()
    await proxy.stop()
    await first.close()
    await second.close()
  })
  return { backend, proxy, site, second }
}

/** Uses the session and refreshes it, ten times; each must succeed. */
async function goOn(site: Host, login: Login): Promise<Grant> {
  let held: Grant = login
  for (let turn = 0; turn < 10; turn += 1) {
    expect((await site.me(held.accessToken)).status).toBe(200)
    held = grantOf(await site.refresh(held.refreshToken))
  }
  return held
}

describe.skipIf(nginx === null)(
  nginx === null ? 'nginx (not found)' : 'nginx before two hosts',
  () => {
    it('hands on the address of the caller, and none that the caller names', async () => {
      const { backend, proxy, site } = await openSite()
      const login = await site.newLogin()
      const send = rawClient(proxy.url)
      const reply = await send('POST', '/v1/auth/client/login', {
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': '203.0.113.9',
          'x-forwarded-host': 'admin.example.com',
        },
        body: JSON.stringify({ email: login.email, password: login.password }),
      })
      expect(reply.status).toBe(200)
      const { sessions } = collectionsOf(backend.store, 'client', '')
      const rows = await sessions.find({ userId: login.userId }, { limit: 10 })
      expect(rows.map(({ ip }) => ip)).toEqual(['127.0.0.1', '127.0.0.1'])
    })

    it('a session goes on at either host, and after a sign-out at neither', async () => {
      const { site } = await openSite()
      const login = await goOn(site, await site.newLogin())
      expect((await site.logout(login.accessToken)).status).toBe(204)
      for (let turn = 0; turn < 4; turn += 1) {
        expect((await site.me(login.accessToken)).code).toBe('session_revoked')
      }
    })

    it('no user is signed out while a host restarts', async () => {
      const { site, second } = await openSite()
      const login = await site.newLogin()
      await second.close()
      await goOn(site, login)
    })
  },
)
