import { type Auth, createAuth, roleAuthorizer } from 'postern'
import { fetchHandler } from 'postern/fetch'
import { expect, it, onTestFinished } from 'vitest'
import { type Configured, configured } from '../../support/cli/configured.js'
import { goodPassword } from '../../support/people/people.js'

const email = 'root@example.org'

async function migrated(): Promise<Configured & { readonly auth: Auth }> {
  const place = await configured({ authorizer: roleAuthorizer() })
  await place.run('migrate', '--apply')
  const auth = await createAuth(place.options)
  onTestFinished(() => auth.close())
  return { ...place, auth }
}

const tokenOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''

it('makes an operator, and a link by which they choose their password and sign in', async () => {
  const place = await migrated()
  const { code, out, err } = await place.run('create-operator', email, '--name', 'Root')
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^https:\/\/admin\.example\.com\/reset-password#token=/),
  ])
  expect(err).toMatch(/^root@example\.org chooses a password there, once, until 20/m)
  const handle = fetchHandler(place.auth.operator)
  const post = (path: string, body: unknown) =>
    handle(
      new Request(`https://admin.example.com/v1/auth/operator/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const reset = await post('password/reset', { token: tokenOf(out), newPassword: goodPassword })
  expect(reset?.status).toBe(204)
  const login = await post('login', { email, password: goodPassword })
  expect(await login?.json()).toMatchObject({ status: 'authenticated' })
  expect(await place.auth.operator.users.findByEmail(email)).toMatchObject({
    ...{ name: 'Root', systemRole: 'super_admin', emailVerified: true },
  })
  expect(place.mailer.sent.filter(({ template }) => template === 'resetPassword')).toEqual([])
})

it('is recorded with the actor cli', async () => {
  const { auth, run } = await migrated()
  await run('create-operator', email)
  const operator = await auth.operator.users.findByEmail(email)
  const { records } = await auth.operator.audit.ofTarget(operator?.id ?? '')
  expect(records.map(({ action, actorId }) => [action, actorId]).sort()).toEqual([
    ['account.created', 'cli'],
    ['password.resetRequested', 'cli'],
  ])
})

it('gives another link to an operator who never used the first', async () => {
  const { run, auth } = await migrated()
  const first = await run('create-operator', email, '--json')
  const second = await run('create-operator', email, '--json')
  expect([first.code, second.code]).toEqual([0, 0])
  expect(JSON.parse(first.out).url).not.toBe(JSON.parse(second.out).url)
  expect((await auth.operator.users.list()).users).toHaveLength(1)
})

it('gives no link to an operator who has a password, signed in before, or has another role', async () => {
  const { run, auth } = await migrated()
  const { users } = auth.operator
  await users.create({
    email,
    emailVerified: true,
    password: goodPassword,
    systemRole: 'super_admin',
  })
  await users.create({ email: 'other@example.org', emailVerified: true, systemRole: 'auditor' })
  await users.create({ email: 'new@example.org', systemRole: 'super_admin' })
  // Signed in before, through a provider.
  const linked = { email: 'linked@example.org', emailVerified: true, systemRole: 'super_admin' }
  const row = { ...linked, lastLoginAt: Date.now() - 1000 }
  // Never here, and able to.
  const google = {
    provider: 'google',
    issuer: 'https://accounts.google.com',
    subject: '1',
  } as const
  const able = { ...linked, email: 'able@example.org', identities: [google] }
  await users.import({ users: [row, able], allowRoles: ['super_admin'] })
  const known = ['other', 'new', 'linked', 'able'].map((name) => `${name}@example.org`)
  for (const address of [email, ...known]) {
    const { code, out, err } = await run('create-operator', address)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`There is an operator ${address} already`)
  }
})

it('gives an operator another role on request, and refuses one that is no role', async () => {
  const { run, auth } = await migrated()
  await run('create-operator', email, '--role', 'auditor')
  expect(await auth.operator.users.findByEmail(email)).toMatchObject({ systemRole: 'auditor' })
  const long = await run('create-operator', 'b@example.org', '--role', 'x'.repeat(101))
  expect([long.code, long.err]).toEqual([1, expect.stringContaining('invalid_request')])
})

it('names the role of an operator who has another one, and how they get a new one', async () => {
  const { run, auth } = await migrated()
  await run('create-operator', email, '--role', 'administrater')
  const { code, out, err } = await run('create-operator', email, '--role', 'administrator')
  expect([code, out]).toEqual([1, ''])
  const { id = '' } = (await auth.operator.users.findByEmail(email)) ?? {}
  expect(err).toContain(`operator ${email} already, with the role administrater`)
  expect(err).toContain(`users.update("${id}", { systemRole: "administrator" })`)
  await auth.operator.users.update(id, { systemRole: 'administrator' })
  expect((await run('create-operator', email, '--role', 'administrator')).code).toBe(0)
})

it.each([[], ['a@example.org', 'b@example.org']])('refuses %s', async (...words) => {
  const { run } = await configured()
  expect((await run('create-operator', ...words)).code).toBe(2)
})

it('refuses what is no address, and makes nobody', async () => {
  const { run, auth } = await migrated()
  expect((await run('create-operator', 'root')).code).toBe(1)
  expect((await auth.operator.users.list()).users).toEqual([])
})

it('says what to do before the database is there', async () => {
  const { run } = await configured()
  const { code, err } = await run('create-operator', email)
  expect(code).toBe(3)
  expect(err).toContain('migrate')
})
