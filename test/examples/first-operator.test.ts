import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { ensureFirstOperator } from '../../examples/quickstart/first-start.js'
import type { Auth } from '../../src/index.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { testSigningKey } from '../support/keys.js'

const password = 'correct horse battery staple'

it('a first operator who was deleted, or moved, is not made again at a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-first-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { auth } = await testAuth()
  onTestFinished(() => auth.close())
  const { users } = auth.operator
  const { email } = await ensureFirstOperator(auth, `${folder}/`)
  const first = await users.findByEmail(email)
  expect(first).toMatchObject({ systemRole: 'super_admin' })
  await users.create({ email: 'second@example.org', password, emailVerified: true })
  await users.delete(first?.id ?? '')
  await ensureFirstOperator(auth, `${folder}/`)
  expect(await users.findByEmail(email)).toBeNull()
})

it('the hosts of examples make their first operator only where there is none', async () => {
  const [OPERATOR_EMAIL, OPERATOR_PASSWORD] = ['first@example.org', password]
  const CONFIG_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const SIGNING_KEY = await testSigningKey()
  const env = { OPERATOR_EMAIL, OPERATOR_PASSWORD, CONFIG_ENCRYPTION_KEY, SIGNING_KEY }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  vi.stubEnv('DATABASE_URL', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { auth, closeAuth } = await import('../../examples/shared/auth.js')
  onTestFinished(closeAuth)
  const { users } = auth.operator
  await users.create({ email: 'second@example.org', password, emailVerified: true })
  await import('../../examples/shared/reports.js')
  expect(await users.findByEmail(OPERATOR_EMAIL)).toBeNull()
})

it('the host of Next.js makes no first operator again who was deleted', async () => {
  const OPERATOR_EMAIL = 'first@example.org'
  const CONFIG_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const SIGNING_KEY = await testSigningKey()
  const env = { OPERATOR_EMAIL, OPERATOR_PASSWORD: password, CONFIG_ENCRYPTION_KEY, SIGNING_KEY }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  vi.stubEnv('DATABASE_URL', '')
  // What stays from one start to the next, as a database would.
  const backend = memory()
  vi.doMock('postern/memory', () => ({ memory: () => backend }))
  onTestFinished(() => {
    vi.doUnmock('postern/memory')
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  })
  // Its types are checked with the options of its own project.
  const file = new URL('../../examples/nextjs/auth.ts', import.meta.url).href
  const { startedAuth }: { startedAuth(): Promise<Auth> } = await import(file)
  const start = async () => {
    vi.stubGlobal('auth', undefined)
    const auth = await startedAuth()
    onTestFinished(() => auth.close())
    return auth.operator.users
  }
  const users = await start()
  const first = await users.findByEmail(OPERATOR_EMAIL)
  expect(first).toMatchObject({ enabled: true })
  await users.create({ email: 'second@example.org', password, emailVerified: true })
  await users.delete(first?.id ?? '')
  const later = await start()
  expect(await later.findByEmail('second@example.org')).not.toBeNull()
  expect(await later.findByEmail(OPERATOR_EMAIL)).toBeNull()
})
