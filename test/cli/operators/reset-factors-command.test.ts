import assert from 'node:assert/strict'
import { generateSync } from 'otplib'
import { type Auth, createAuth } from 'postern'
import { fetchHandler } from 'postern/fetch'
import { expect, it, onTestFinished } from 'vitest'
import { type Configured, configured } from '../../support/cli/configured.js'
import { goodPassword } from '../../support/people/people.js'

const email = 'root@example.org'

type Surface = 'operator' | 'client'

interface Place extends Configured {
  readonly auth: Auth
  send(
    method: string,
    path: string,
    body?: unknown,
    bearer?: string,
  ): Promise<Readonly<Record<string, unknown>>>
}

/** A host with a person on one surface, who has a password. */
async function withPerson(surface: Surface): Promise<Place> {
  const place = await configured()
  await place.run('migrate', '--apply')
  const auth = await createAuth(place.options)
  onTestFinished(() => auth.close())
  await auth[surface].users.create({ email, emailVerified: true, password: goodPassword })
  const handle = fetchHandler(auth[surface])
  const origin = surface === 'operator' ? 'https://admin.example.com' : 'https://app.example.com'
  return {
    ...place,
    auth,
    async send(method, path, body, bearer) {
      const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
      const request = new Request(`${origin}/v1/auth/${surface}/${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...authorization },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const reply = await handle(request)
      assert.ok(reply)
      const document: Readonly<Record<string, unknown>> = JSON.parse(await reply.text())
      return { httpStatus: reply.status, ...document }
    },
  }
}

it.each(['operator', 'client'] as const)(
  'opens the account of a person who lost the app, on the surface %s',
  async (surface) => {
    const { send, run, mailer } = await withPerson(surface)
    const { accessToken } = await send('POST', 'login', { email, password: goodPassword })
    const bearer = String(accessToken)
    const { secret } = await send('POST', 'mfa/totp', { currentPassword: goodPassword }, bearer)
    const code = generateSync({ secret: String(secret) })
    const confirmed = await send('POST', 'mfa/totp/confirm', { code }, bearer)
    expect(confirmed).toMatchObject({ httpStatus: 200 })
    const login = () => send('POST', 'login', { email, password: goodPassword })
    expect(await login()).toMatchObject({ status: 'mfaRequired' })
    mailer.clear()

    const flags = surface === 'operator' ? [] : ['--surface', surface]
    const { code: exit, out, err } = await run('reset-factors', email, ...flags, '--json')
    expect([exit, JSON.parse(out)]).toEqual([0, { email, surface }])
    expect(err).toContain(`${email} has no second factor now, and is signed out.`)
    const mails = mailer.sent.map(({ to, template }) => [to, template])
    expect(mails).toEqual([[email, 'mfaChanged']])
    expect(await send('GET', 'me', undefined, bearer)).toMatchObject({ httpStatus: 401 })
    expect(await login()).toMatchObject({ status: 'authenticated' })
  },
)

it('is recorded with the actor cli', async () => {
  const { auth, run } = await withPerson('operator')
  expect((await run('reset-factors', email)).code).toBe(0)
  const user = await auth.operator.users.findByEmail(email)
  const { records } = await auth.operator.audit.ofTarget(user?.id ?? '')
  const actors = records.map(({ action, actorId }) => [action, actorId])
  expect(actors).toContainEqual(['mfa.changed', 'cli'])
})

it('finds no person on the other surface', async () => {
  const { run } = await withPerson('client')
  const { code, out, err } = await run('reset-factors', email)
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(`There is no person ${email} on the operator surface.`)
})

it.each([
  { words: [], says: 'Say one address' },
  { words: ['a@example.org', 'b@example.org'], says: 'Say one address' },
  { words: ['a@example.org', '--surface', 'both'], says: '--surface takes operator or client.' },
])('refuses $words', async ({ words, says }) => {
  const { run } = await configured()
  const { code, err } = await run('reset-factors', ...words)
  expect([code, err]).toEqual([2, expect.stringContaining(says)])
})
