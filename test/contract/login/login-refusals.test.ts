import { expect, it } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, seenOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'

const doors = ['login', 'mobile/login'] as const

interface Attempt {
  readonly email: string
  readonly password: string
}

function login(
  host: ContractHost,
  surface: Surface,
  { email, password }: Attempt,
  door: (typeof doors)[number] = 'login',
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/${door}`, { body: { email, password } })
}

/** Everybody who must not get in, each with the password that is, or would be, right. */
async function refused(host: ContractHost, surface: Surface): Promise<Record<string, Attempt>> {
  const { users } = host.auth[surface]
  const wrong = await person(host, surface)
  const disabled = await person(host, surface)
  await users.update(disabled.id, { enabled: false })
  const { email: passwordless } = await users.create({
    email: 'linked@example.org',
    emailVerified: true,
  })
  const stored = storedIn(host, surface).users
  const owner = await storedUser(host, surface, wrong.email)
  await stored.insert({
    ...owner,
    id: '01940000-0000-7000-8000-000000000001',
    email: 'machine@example.org',
    kind: 'service',
  })
  await stored.insert({
    ...owner,
    id: '01940000-0000-7000-8000-000000000002',
    email: 'damaged@example.org',
    passwordHash: 'no hash at all',
  })
  return {
    'unknown address': { email: 'nobody@example.org', password: goodPassword },
    'no address at all': { email: 'not an address', password: goodPassword },
    'wrong password': { email: wrong.email, password: otherPassword },
    'right but for case': { email: wrong.email, password: goodPassword.toUpperCase() },
    'over 1,024 bytes': { email: wrong.email, password: 'x'.repeat(1025) },
    'lone surrogate': { email: wrong.email, password: `${goodPassword}\uD800` },
    'disabled account': disabled,
    'machine account': { email: 'machine@example.org', password: goodPassword },
    'no password': { email: passwordless, password: goodPassword },
    'unreadable hash': { email: 'damaged@example.org', password: goodPassword },
  }
}

eachSurface.describe('a login refused', (surface) => {
  it.each(doors)('refuses everybody alike at %s, to the last byte', async (door) => {
    const host = await openHost()
    const attempts = await refused(host, surface)
    const seen = new Map<string, unknown>()
    for (const [who, attempt] of Object.entries(attempts)) {
      seen.set(who, seenOf(await login(host, surface, attempt, door)))
    }
    const first = seen.get('unknown address')
    expect(first).toMatchObject({
      status: 401,
      cookies: [],
      text: JSON.stringify({
        status: 401,
        title: 'Unauthorized',
        detail: 'The credentials are not valid.',
        code: 'invalid_credentials',
      }),
    })
    for (const [who, one] of seen) expect([who, one]).toEqual([who, first])
  })

  it('does one hash verification for everybody, whatever is wrong', async () => {
    const hasher = countingHasher(argon2Hasher())
    const host = await openHost({ hash: { ...cheapHash, implementation: hasher } })
    const attempts = await refused(host, surface)
    const right = await person(host, surface)
    const counted: Record<string, number> = {}
    const before = hasher.hashes
    for (const [who, attempt] of Object.entries({ ...attempts, right })) {
      const done = hasher.verified.length
      await login(host, surface, attempt)
      counted[who] = hasher.verified.length - done
    }
    const once = Object.fromEntries(Object.keys(counted).map((who) => [who, 1]))
    expect(counted).toEqual(once)
    // And every one of them at the costs in force.
    expect(hasher.verified.every((phc) => phc.includes('$m=64,t=1,p=1$'))).toBe(true)
    expect(hasher.hashes).toBe(before)
  })

  it('says that an address is not verified only to who knows the password', async () => {
    const host = await openHost()
    const email = 'ada@example.org'
    const { id } = await host.auth[surface].users.create({ email, password: goodPassword })
    const wrong = await login(host, surface, { email, password: otherPassword })
    expect(outcomeOf(wrong)).toBe('401 invalid_credentials')
    for (const door of doors) {
      const right = await login(host, surface, { email, password: goodPassword }, door)
      expect([outcomeOf(right), right.setCookies]).toEqual(['403 email_not_verified', []])
    }
    const { families } = storedIn(host, surface)
    expect(await families.find({ userId: id }, { limit: 1 })).toEqual([])
  })

  it('lets the unverified in where verification is not required', async () => {
    const host = await openHost({ settings: { emailVerificationRequired: false } })
    const email = 'ada@example.org'
    await host.auth[surface].users.create({ email, password: goodPassword })
    const reply = await login(host, surface, { email, password: goodPassword })
    expect(reply.json()).toMatchObject({ user: { emailVerified: false } })
  })

  it.each(doors)('can be switched off: %s', async (door) => {
    const off =
      surface === 'operator'
        ? { passwordLoginOperatorEnabled: false }
        : { passwordLoginClientEnabled: false }
    const hasher = countingHasher(argon2Hasher())
    const hash = { ...cheapHash, implementation: hasher }
    const host = await openHost({ settings: off, hash })
    const who = await person(host, surface)
    const other = surface === 'operator' ? 'client' : 'operator'
    const someone = await person(host, other)
    for (const attempt of [who, { email: 'nobody@example.org', password: goodPassword }]) {
      const reply = await login(host, surface, attempt, door)
      expect(outcomeOf(reply)).toBe('403 password_login_disabled')
    }
    expect(hasher.verified).toEqual([])
    expect(outcomeOf(await login(host, other, someone, door))).toBe('200')
    const forgot = await host.send('POST', `/v1/auth/${surface}/password/forgot`, {
      body: { email: who.email },
    })
    expect(outcomeOf(forgot)).toBe('403 password_login_disabled')
  })
})
