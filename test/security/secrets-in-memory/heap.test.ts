import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { generateSync } from 'otplib'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/sqlite/index.js'
import { createAuth } from '../../../src/create-auth.js'
import { generateSigningKey } from '../../../src/crypto/key-ring.js'
import { githubSettings } from '../../reliability/github-stand-in.js'
import { httpClient } from '../../support/hosts/http-client.js'
import type { Ask } from './host.js'
import { hostOptions } from './host-options.js'

const canary = (): string => `canary-${randomBytes(12).toString('hex')}`
const client = '/v1/auth/client'
const email = 'owner@example.org'

/** A store with secrets and a user in it, which another process has written. */
async function preparedStore() {
  const folder = mkdtempSync(join(tmpdir(), 'postern-heap-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'store.sqlite')
  const configKey = randomBytes(32).toString('base64')
  const secrets = { provider: canary(), module: canary(), password: canary() }
  const database = new DatabaseSync(file)
  const auth = await createAuth({
    ...hostOptions(configKey),
    backend: sqlite(database),
    keys: { current: await generateSigningKey() },
    settings: { ...githubSettings, githubClientSecret: secrets.provider },
    env: {},
  })
  await auth.migrate()
  await auth.config.change('mail', { config: { password: secrets.module } })
  await auth.client.users.create({ email, password: secrets.password, emailVerified: true })
  await auth.close()
  database.close()
  return { folder, file, configKey, secrets }
}

/** The host, in a process of its own. */
async function startedHost(file: string, configKey: string) {
  const hooks = new URL('../../support/module-hooks.mjs', import.meta.url)
  const program = fileURLToPath(new URL('host.ts', import.meta.url))
  const child = fork(program, [file, configKey], {
    execArgv: ['--expose-gc', '--import', hooks.href],
    env: {},
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`the host ended: ${code}`))
      child.once('exit', gone)
      child.once('message', (message) => {
        child.off('exit', gone)
        resolve(message)
      })
    })
  const url = String(await next())
  const ask = (what: Ask): Promise<unknown> => {
    const answer = next()
    child.send(what)
    return answer
  }
  return { send: httpClient(url), ask }
}

/** Signs in, adds an authenticator app, refreshes, and signs out; what it learned that others must not. */
async function wholeVisit(send: ReturnType<typeof httpClient>, password: string) {
  async function post(path: string, body: object, bearer?: string) {
    const reply = await send('POST', `${client}${path}`, bearer ? { body, bearer } : { body })
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`)
    return reply.text === '' ? {} : reply.json()
  }
  const login = await post('/mobile/login', { email, password })
  const bearer = String(login['accessToken'])
  const begun = await post('/mfa/totp', { currentPassword: password }, bearer)
  const totpSecret = String(begun['secret'])
  const code = generateSync({ secret: totpSecret })
  const confirmed = await post('/mfa/totp/confirm', { code }, bearer)
  const [backupCode = ''] = confirmed['backupCodes'] as readonly string[]
  const first = String(login['refreshToken'])
  const { refreshToken } = await post('/refresh', { refreshToken: first })
  const refreshed = String(refreshToken)
  await post('/logout', { refreshToken: refreshed })
  return { totpSecret, backupCode, first, refreshed }
}

it('30 seconds after the last request the heap holds no secret in clear', async () => {
  const { folder, file, configKey, secrets } = await preparedStore()
  const { send, ask } = await startedHost(file, configKey)
  const visit = await wholeVisit(send, secrets.password)
  expect(await ask({ kind: 'read' })).toBe(secrets.module.length)
  // What came last is still held by its connection.
  const lastRequest = () => send('GET', `${client}/jwks`)
  async function found(wanted: Readonly<Record<string, string>>, name: string) {
    const snapshot = join(folder, `${name}.heapsnapshot`)
    await ask({ kind: 'snapshot', file: snapshot })
    const heap = readFileSync(snapshot, 'latin1')
    return Object.keys(wanted).filter((key) => heap.includes(wanted[key] ?? ''))
  }
  expect((await lastRequest()).status).toBe(200)
  expect(await found(secrets, 'during')).toEqual(['provider', 'module'])
  await ask({ kind: 'advance', ms: 30_000 })
  expect(await found({ ...secrets, ...visit }, 'after')).toEqual([])
}, 60_000)
