import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  aspnetIdentity,
  djangoBcryptSha256,
  phpass,
  springPbkdf2,
  wordpress,
} from '../../src/crypto/verifiers.js'
import { openHost, outcomeOf, storedIn, storedUser } from '../support/hosts/open-host.js'
import { vectors } from './verifier-vectors.js'

const ofBcrypt: readonly { readonly hash: string; readonly bcryptOf: string }[] = [
  ...vectors.wordpress,
  ...vectors.djangoBcryptSha256,
]

/** What a bcrypt library says of these hashes; a long test asks one. */
async function compare(text: string, hash: string): Promise<boolean> {
  const known = ofBcrypt.find((one) => one.hash.endsWith(hash.slice(4)))
  return known?.bcryptOf === text
}

const verifiers = {
  phpass: phpass(),
  wordpress: wordpress(compare),
  djangoBcryptSha256: djangoBcryptSha256(compare),
  aspnetIdentity: aspnetIdentity(),
  springPbkdf2: springPbkdf2(),
}
const names = [
  'phpass',
  'wordpress',
  'djangoBcryptSha256',
  'aspnetIdentity',
  'springPbkdf2',
] as const
const all = Object.values(verifiers)
const bytesOf = (text: string) => new TextEncoder().encode(text)

describe.each(names)('%s', (name) => {
  const verifier = verifiers[name]

  it('takes the old password of each hash that another program made, and no other', async () => {
    for (const { hash, password } of vectors[name]) {
      expect(all.filter((one) => one.recognises(hash))).toEqual([verifier])
      expect([hash, await verifier.verify(hash, bytesOf(password))]).toEqual([hash, true])
      expect([hash, await verifier.verify(hash, bytesOf(`${password}!`))]).toEqual([hash, false])
    }
  }, 30_000)

  it('refuses what is no such hash, and does not throw', async () => {
    const whole = vectors[name].map(({ hash }) => hash)
    const broken = fc
      .tuple(fc.constantFrom(...whole), fc.nat(), fc.string({ minLength: 1 }))
      .map(([hash, at, other]) => [
        hash.slice(0, at % 30),
        `${hash.slice(0, at % 30)}\u0000${hash.slice(at % 30)}`,
        `${hash}!${other}`,
        ` ${hash}`,
      ])
    await fc.assert(
      fc.asyncProperty(broken, fc.string(), async (texts, text) => {
        for (const one of [...texts, text, text.repeat(999)]) {
          expect([one, verifier.recognises(one)]).toEqual([one, false])
          expect(await verifier.verify(one, bytesOf('password'))).toBe(false)
        }
      }),
      { numRuns: 50 },
    )
  })
})

const aspnet = (prf: number, iterations: number, saltBytes: number, bytes = 64) => {
  const blob = Buffer.alloc(13 + bytes, 7)
  for (const [at, value] of [prf, iterations, saltBytes].entries())
    blob.writeUInt32BE(value, 1 + 4 * at)
  blob.writeUInt8(1)
  return blob.toString('base64')
}
const bcryptEnd = 'N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
const phpassEnd = 'saltsalt0123456789012345678901'

describe('a hash', () => {
  it.each([
    ['$P$D', phpass(), `$P$D${phpassEnd.slice(0, 30)}`, `$P$E${phpassEnd.slice(0, 30)}`],
    ['$wp', wordpress(compare), `$wp$2y$14$${bcryptEnd}`, `$wp$2y$15$${bcryptEnd}`],
    [
      'bcrypt_sha256',
      djangoBcryptSha256(compare),
      `bcrypt_sha256$$2b$14$${bcryptEnd}`,
      `bcrypt_sha256$$2b$15$${bcryptEnd}`,
    ],
    ['ASP.NET', aspnetIdentity(), aspnet(2, 2_000_000, 16), aspnet(2, 2_000_001, 16)],
    ['long tag', aspnetIdentity(), aspnet(0, 800_000, 16, 56), aspnet(0, 1_000_001, 16, 56)],
  ] as const)(
    '%s at the bound is read, and one above it is too costly',
    (_what, one, most, more) => {
      expect([one.recognises(most), one.isTooCostly?.(most)]).toEqual([true, false])
      expect([one.recognises(more), one.isTooCostly?.(more)]).toEqual([false, true])
    },
  )

  it.each([
    ['no iteration', aspnet(1, 0, 16)],
    ['another function', aspnet(3, 1000, 16)],
    ['a salt beyond its end', aspnet(1, 1000, 65)],
    ['a salt of 4 GiB', aspnet(1, 1000, 0xffffffff)],
    ['no salt', aspnet(1, 1000, 0)],
    ['a short tag', aspnet(1, 1000, 49)],
  ])('of ASP.NET with %s is none', (_what, hash) => {
    expect([aspnetIdentity().recognises(hash), aspnetIdentity().isTooCostly?.(hash)]).toEqual([
      false,
      false,
    ])
  })

  it('of WordPress is that of the password without blanks at its ends, as WordPress hashes it', async () => {
    const [{ hash, password }] = vectors.wordpress
    const check = (text: string) => verifiers.wordpress.verify(hash, bytesOf(text))
    expect(await check(` \t\n${password}\r\v\0 `)).toBe(true)
    for (const other of [`\u00a0${password}`, password.replace(' ', '  '), ' ', '']) {
      expect(await check(other)).toBe(false)
    }
  })

  it('of Spring is that of the secret of its encoder too', async () => {
    const [{ hash, password }] = vectors.springPbkdf2
    const other = springPbkdf2({ secret: 'pepper' })
    expect([other.recognises(hash), await other.verify(hash, bytesOf(password))]).toEqual([
      true,
      false,
    ])
  })
})

it('users with such hashes are imported, sign in with their old password and have argon2id then', async () => {
  const host = await openHost({ legacyVerifiers: all })
  const cheap = names.map((name) => ({
    ...vectors[name][0],
    email: `${name.toLowerCase()}@example.org`,
  }))
  const users = cheap.map(({ email, hash }) => ({
    email,
    passwordHash: hash ?? '',
    emailVerified: true,
  }))
  const costly = { email: 'costly@example.org', passwordHash: `$wp$2y$15$${bcryptEnd}` }
  const report = await host.auth.client.users.import({ users: [...users, costly] })
  expect(report).toMatchObject({ created: users.length, refused: 1 })
  expect(report.results.at(-1)).toMatchObject({ code: 'hash_too_costly' })
  const login = async (email: string, password: string) =>
    outcomeOf(await host.send('POST', '/v1/auth/client/login', { body: { email, password } }))
  for (const { email, password = '' } of cheap) {
    expect(await login(email, `${password}!`)).toBe('401 invalid_credentials')
    expect([email, await login(email, password)]).toEqual([email, '200'])
    expect((await storedUser(host, 'client', email)).passwordHash).toMatch(/^\$argon2id\$/)
  }

  // What was stored by another hand is refused too, and no failure.
  const { id } = await storedUser(host, 'client', users[0]?.email ?? '')
  for (const passwordHash of ['$P$', '$wp$2y$', 'bcrypt_sha256$', 'AQ==', '{pbkdf2}00']) {
    await storedIn(host, 'client').users.update(id, { id }, { passwordHash })
    expect(await login(users[0]?.email ?? '', 'password')).toBe('401 invalid_credentials')
  }
}, 30_000)
