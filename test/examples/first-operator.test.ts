import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ensureFirstOperator } from '../../examples/quickstart/first-start.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { testSigningKey } from '../support/keys.js'

const password = 'correct horse battery staple'

it('I17-6 a first operator who was deleted, or moved, is not made again at a start', async () => {
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

it('I17-7 the hosts of examples make their first operator only where there is none', async () => {
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
