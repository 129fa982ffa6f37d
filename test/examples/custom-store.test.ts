import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { conformance } from 'postern/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { sqlite } from '../../examples/custom-store/sqlite.js'
import { ask } from '../support/hosts/fetch-host.js'
import { testAuth } from '../support/hosts/test-auth.js'

const folder = mkdtempSync(join(tmpdir(), 'postern-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the SQLite example', () => {
  const cases = conformance({
    open({ through }) {
      const db = new DatabaseSync(':memory:')
      const openAgain = () => sqlite(through(db))
      return { backend: openAgain(), openAgain, close: () => db.close() }
    },
  })
  for (const { group, name, skip, run } of cases) test.skipIf(skip)(`${group}: ${name}`, run)

  test('is under 200 lines', () => {
    const files = globSync(
      fileURLToPath(new URL('../../examples/custom-store/*.ts', import.meta.url)),
    )
    const lines = files.flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
    expect(files).toHaveLength(2)
    expect(lines.length).toBeLessThan(200)
  })

  test('keeps a whole life of one user in its file, over a restart', async () => {
    const file = join(folder, 'auth.db')
    const password = 'correct horse battery staple'
    const credentials = { email: 'ada@example.org', password }
    async function start() {
      const db = new DatabaseSync(file)
      const { auth, mailer } = await testAuth({ backend: sqlite(db) })
      const post = (path: string, body: object, headers: object = {}) =>
        ask(auth, path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
      const stop = async () => {
        await auth.close()
        db.close()
      }
      return { auth, mailer, post, stop }
    }
    const tokensOf = async (response: Response) => {
      expect(response.status).toBe(200)
      const tokens: { accessToken: string; refreshToken: string } = JSON.parse(
        await response.text(),
      )
      return tokens
    }

    const first = await start()
    expect((await first.post('/register', credentials)).status).toBe(201)
    await first.auth.close() // the mail is sent beside the request
    const { token } = first.mailer.last('verifyEmail', credentials.email).data
    const chosen = { token, newPassword: credentials.password }
    expect((await first.post('/email/verify', chosen)).status).toBe(200)
    const login = await tokensOf(await first.post('/mobile/login', credentials))
    await first.stop()

    const second = await start()
    expect((await second.post('/register', credentials)).status).toBe(201) // mails the owner
    const { refreshToken } = login
    const rotated = await tokensOf(await second.post('/refresh', { refreshToken }))
    expect(rotated.refreshToken).not.toBe(refreshToken)
    const authorization = `Bearer ${rotated.accessToken}`
    expect((await second.post('/logout', {}, { authorization })).status).toBe(204)
    await second.stop()

    const third = await start()
    const me = await ask(third.auth, '/me', { headers: { authorization } })
    expect([me.status, await me.json()]).toMatchObject([401, { code: 'session_revoked' }])
    const spent = await third.post('/refresh', { refreshToken: rotated.refreshToken })
    expect([spent.status, await spent.json()]).toMatchObject([401, { code: 'session_revoked' }])
    await third.stop()
  })
})
