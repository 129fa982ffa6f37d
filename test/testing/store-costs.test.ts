import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { faultyBackend } from '../../src/testing/index.js'
import { ask } from '../support/hosts/fetch-host.js'
import { cheapHash, testAuth } from '../support/hosts/test-auth.js'

const page = readFileSync(new URL('../../docs/custom-store.md', import.meta.url), 'utf8')

it('the page for authors of a store tells what each request asks of it', async () => {
  const { backend, calls } = faultyBackend(memory())
  const { auth, clock } = await testAuth({ backend, hash: cheapHash })
  const account = { email: 'ada@example.org', password: 'correct horse battery staple' }
  await auth.client.users.create({ ...account, emailVerified: true })
  const headers = { 'content-type': 'application/json' }
  const post = (path: string, body: object) =>
    ask(auth, path, { method: 'POST', headers, body: JSON.stringify(body) })
  const { accessToken, refreshToken } = JSON.parse(
    await (await post('/mobile/login', account)).text(),
  )
  const authorization = `Bearer ${accessToken}`
  const guarded = () => auth.client.authenticate(authorization)
  const requests = {
    'a guarded route': guarded,
    'a guarded route with `requirePermission`': async () =>
      auth.client.requirePermission(await guarded(), 'orders.refund').catch(() => {}),
    '`GET /me`': () => ask(auth, '/me', { headers: { authorization } }),
    '`POST /refresh`': () => post('/refresh', { refreshToken }),
  }
  // What the login writes after its reply is done by then.
  await clock.advance(1000)
  for (const [name, request] of Object.entries(requests)) {
    const from = calls.length
    await request()
    const asked = calls.slice(from).map((call) => call.replace(/^client_\w+\./, ''))
    expect(page).toContain(`| ${name} | ${asked.map((call) => `\`${call}\``).join(', ')} |`)
  }
  await auth.close()
})
