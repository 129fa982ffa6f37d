import { pbkdf2Sync, timingSafeEqual } from 'node:crypto'
import argon2 from 'argon2'
import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import type { LegacyVerifier } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  generousSurfaces,
  openHost,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { goodPassword, otherPassword } from '../../support/people/people.js'
import {
  type Costs,
  formOf,
  hashOf,
  plant,
  shipped,
  storedHash,
} from '../../support/people/planted-hash.js'
import { registeredPerson } from '../../support/people/registration-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const rounds = 25
const email = 'ada@example.org'
const strong = { variant: 'argon2id', version: 19, ...shipped, salt: 16, tag: 32 }

function login(host: ContractHost, surface: Surface, password = goodPassword): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })
}

/** A host with the costs the library ships with. */
function realHost(options: HostOptions = {}): Promise<ContractHost> {
  return openHost({ hash: {}, ...options })
}

/** A backend, and what comes before the next upgrade: of a login's writes of the user, the second. */
function upgradesOf(surface: Surface) {
  let before: (() => Promise<unknown>) | null = null
  let writes = 0
  const backend = withCall(memory(), async (name, work) => {
    if (before !== null && name === `${surface}_users.update`) writes += 1
    if (before === null || writes < 2) return work()
    const run = before
    before = null
    await run()
    return work()
  })
  const onUpgrade = (run: () => Promise<unknown>): void => {
    before = run
    writes = 0
  }
  return { backend, onUpgrade }
}

eachSurface.describe('stored passwords', (surface) => {
  const long = 'a'.repeat(40).replace(/a/g, (_, at: number) => `${at % 7}x`)
  const passwords = [
    ['a difference after byte 72', `${long}1`, `${long}2`],
    ['128 characters', `${'long pass '.repeat(12)}12345678`, `${'long pass '.repeat(12)}12345679`],
    ['emoji', '🐎🔋📎✅🦊🐙🌵🍋🎈🎲🚲🛶⛵🧭🏺', '🐎🔋📎✅🦊🐙🌵🍋🎈🎲🚲🛶⛵🧭🪔'],
    ['a leading space', ` ${goodPassword}`, goodPassword],
    ['a trailing space', `${goodPassword} `, goodPassword],
    ['a NUL inside', 'correct horse\0battery staple', 'correct horse\0battery stable'],
    ['a NUL at the end', `${goodPassword}\0`, goodPassword],
    ['its case', 'Correct Horse Battery Staple', goodPassword],
    ['1,024 bytes', 'correct horse '.repeat(74).slice(0, 1024), 'correct horse '.repeat(73)],
  ] as const

  it('are argon2id in PHC format with a salt of their own, and taken as they are', async () => {
    const host = await realHost()
    const hashes: string[] = []
    for (const address of [email, 'bob@example.org']) {
      await registeredPerson(host, surface, { email: address })
      hashes.push((await storedUser(host, surface, address)).passwordHash ?? '')
    }
    for (const hash of hashes) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    }
    expect(new Set(hashes).size).toBe(2)
    expect(outcomeOf(await login(host, surface, ''))).toBe('400 invalid_request')
    for (const [what, right, wrong] of passwords) {
      const own = await openHost()
      await own.auth[surface].users.create({ email, password: right, emailVerified: true })
      expect(outcomeOf(await login(own, surface, right)), what).toBe('200')
      expect(outcomeOf(await login(own, surface, wrong)), what).toBe('401 invalid_credentials')
    }
  })

  it('are one password, composed or decomposed', async () => {
    const host = await openHost()
    const password = 'café crème à la façade'
    await host.auth[surface].users.create({
      email,
      password: password.normalize('NFD'),
      emailVerified: true,
    })
    expect(outcomeOf(await login(host, surface, password.normalize('NFC')))).toBe('200')
    expect(outcomeOf(await login(host, surface, password.normalize('NFD')))).toBe('200')
  })

  it('are verified with their own costs, far weaker and far stronger', async () => {
    for (const costs of [
      { m: 8192, t: 1 },
      { m: 65_536, t: 3, p: 4 },
    ]) {
      const host = await realHost()
      await plant(host, surface, email, await hashOf(goodPassword, costs))
      expect(outcomeOf(await login(host, surface, otherPassword))).toBe('401 invalid_credentials')
      expect(outcomeOf(await login(host, surface)), JSON.stringify(costs)).toBe('200')
    }
  })

  const weaker: readonly (readonly [string, Costs, object])[] = [
    ['m one less', { m: shipped.m - 1 }, strong],
    ['t one less', { t: 1 }, strong],
    ['version 16', { version: 0x10 }, strong],
    ['argon2i', { type: argon2.argon2i }, strong],
    ['argon2d', { type: argon2.argon2d }, strong],
    ['a 16-byte tag', { tag: 16 }, strong],
    ['an 8-byte salt', { salt: 8 }, strong],
    ['weaker in t alone, more in m', { m: 40_000, t: 1 }, { ...strong, m: 40_000 }],
    ['weaker in m alone, more in t and p', { m: 8192, t: 4, p: 2 }, { ...strong, t: 4, p: 2 }],
  ]

  it('are upgraded at a login, unseen, whatever of them is weaker', async () => {
    for (const [what, costs, becomes] of weaker) {
      const host = await realHost()
      const old = await hashOf(goodPassword, costs)
      await plant(host, surface, email, old)
      const told = host.logger.lines.length
      const upgrading = await login(host, surface)
      const upgraded = await storedHash(host, surface, email)
      expect(upgraded, what).not.toBe(old)
      expect(formOf(upgraded), what).toEqual(becomes)
      const plain = await login(host, surface)
      expect(await storedHash(host, surface, email), what).toBe(upgraded)
      expect([upgrading, plain].map(outcomeOf)).toEqual(['200', '200'])
      const members = [upgrading, plain].map((reply) => Object.keys(reply.json()))
      expect(members[0]).toEqual(members[1])
      expect([...upgrading.headers.keys()]).toEqual([...plain.headers.keys()])
      expect(host.logger.lines.slice(told)).toEqual([])
    }
  })

  const strongEnough: readonly (readonly [string, Costs])[] = [
    ['equal', {}],
    ['m one more', { m: shipped.m + 1 }],
    ['m doubled', { m: shipped.m * 2 }],
    ['t one more', { t: 3 }],
    ['more lanes', { p: 4 }],
    ['a longer tag and salt', { tag: 64, salt: 32 }],
  ]

  it('are left alone when equal or stronger', async () => {
    for (const [what, costs] of strongEnough) {
      const host = await realHost()
      const hash = await hashOf(goodPassword, costs)
      await plant(host, surface, email, hash)
      expect(outcomeOf(await login(host, surface)), what).toBe('200')
      expect(await storedHash(host, surface, email), what).toBe(hash)
    }
  })

  it('are never touched by a login that fails', async () => {
    const host = await openHost()
    const hash = await hashOf(goodPassword, { m: 32, t: 1 })
    await plant(host, surface, email, hash)
    for (const password of [otherPassword, '', `${goodPassword} `, 'x'.repeat(2000)]) {
      await login(host, surface, password)
      expect(await storedHash(host, surface, email)).toBe(hash)
    }
    const { id } = await storedUser(host, surface, email)
    await host.auth[surface].users.update(id, { enabled: false })
    expect(outcomeOf(await login(host, surface))).toBe('401 invalid_credentials')
    expect(await storedHash(host, surface, email)).toBe(hash)
  })

  it('are never touched by a login that is refused after the password', async () => {
    const host = await openHost({ settings: { passwordMaxAge: '30d' } })
    const hash = await hashOf(goodPassword, { m: 32, t: 1 })
    await plant(host, surface, email, hash)
    const { users } = storedIn(host, surface)
    const { id, emailVerifiedAt } = await storedUser(host, surface, email)
    await users.update(id, { kind: '' }, { emailVerifiedAt: null })
    expect(outcomeOf(await login(host, surface))).toBe('403 email_not_verified')
    expect(await storedHash(host, surface, email)).toBe(hash)
    const long = host.clock.now() - 31 * 24 * 60 * 60_000
    await users.update(id, { kind: '' }, { emailVerifiedAt, passwordChangedAt: long })
    expect((await login(host, surface)).text).toContain('passwordToken')
    expect(await storedHash(host, surface, email)).toBe(hash)
    await users.update(id, { kind: '' }, { passwordChangedAt: host.clock.now() })
    expect(outcomeOf(await login(host, surface))).toBe('200')
    expect(await storedHash(host, surface, email)).not.toBe(hash)
  })

  it('let the login succeed when the upgrade cannot be stored, and upgrade next time', async () => {
    const { backend, onUpgrade } = upgradesOf(surface)
    const host = await openHost({ backend })
    const hash = await hashOf(goodPassword, { m: 32, t: 1 })
    await plant(host, surface, email, hash)
    const told = host.logger.lines.length
    onUpgrade(() => Promise.reject(new Error('down')))
    const reply = await login(host, surface)
    expect(outcomeOf(reply)).toBe('200')
    expect(await storedHash(host, surface, email)).toBe(hash)
    const warnings = host.logger.lines.slice(told).filter(({ level }) => level === 'warn')
    expect(warnings.map(({ message }) => message)).toEqual([
      'a weak password hash could not be upgraded',
    ])
    expect(JSON.stringify(host.logger.lines)).not.toContain(hash)
    expect(outcomeOf(await login(host, surface))).toBe('200')
    expect(await storedHash(host, surface, email)).toMatch(/m=64,t=1,p=1/)
  })

  it('let the login succeed when the new hash cannot be made', async () => {
    const real = argon2Hasher()
    const implementation = {
      verify: real.verify,
      hash: () => Promise.reject(new Error('out of memory')),
    }
    const host = await openHost({ hash: { ...cheapHash, implementation } })
    const hash = await hashOf(goodPassword, { m: 32, t: 1 })
    await plant(host, surface, email, hash)
    expect(outcomeOf(await login(host, surface))).toBe('200')
    expect(await storedHash(host, surface, email)).toBe(hash)
  })

  it('never lose a password set between the verification and the upgrade', async () => {
    const { backend, onUpgrade } = upgradesOf(surface)
    const host = await openHost({ backend })
    await plant(host, surface, email, await hashOf(goodPassword, { m: 32, t: 1 }))
    await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
    await host.auth.close()
    const { token } = host.mailer.last('resetPassword', email).data
    let reset: Reply | null = null
    onUpgrade(async () => {
      reset = await host.send('POST', `/v1/auth/${surface}/password/reset`, {
        body: { token, newPassword: otherPassword },
      })
    })
    const { status, json } = await login(host, surface)
    expect([status, reset]).toMatchObject([200, { status: 204 }])
    // The reset ended all sessions, that of this login as well.
    const bearer = textOf(json(), 'accessToken')
    const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(outcomeOf(me)).toBe('401 session_revoked')
    expect(outcomeOf(await login(host, surface, otherPassword))).toBe('200')
    expect(outcomeOf(await login(host, surface, goodPassword))).toBe('401 invalid_credentials')
  })

  it(`never lose the new password in ${rounds} logins with an old hash beside a reset`, async () => {
    const settings = { passwordHistoryCount: 0, lockoutThreshold: 0 }
    const host = await openHost({ settings, surfaces: generousSurfaces })
    const weak = await hashOf(goodPassword, { m: 32, t: 1 })
    await plant(host, surface, email, weak)
    const { users } = storedIn(host, surface)
    const { id } = await storedUser(host, surface, email)
    for (let round = 0; round < rounds; round += 1) {
      await users.update(id, { enabled: true }, { passwordHash: weak })
      await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
      await host.auth.close()
      const { token } = host.mailer.last('resetPassword', email).data
      const logins = [1, 2, 3].map(() => login(host, surface))
      const body = { token, newPassword: otherPassword }
      const reset = host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
      expect((await reset).status).toBe(204)
      await Promise.all(logins)
      expect(outcomeOf(await login(host, surface, otherPassword))).toBe('200')
      expect(outcomeOf(await login(host, surface, goodPassword))).toBe('401 invalid_credentials')
    }
  })
})

eachSurface.describe('imported passwords', (surface) => {
  const derive = (password: Uint8Array, rounds: number) =>
    pbkdf2Sync(password, 'a salt', rounds, 32, 'sha256')
  const imported = (password: string, rounds: number) =>
    `pbkdf2:${rounds}:${derive(Buffer.from(password), rounds).toString('hex')}`
  const pbkdf2: LegacyVerifier = {
    recognises: (hash) => /^pbkdf2:\d{1,4}:[0-9a-f]{64}$/.test(hash),
    async verify(hash, password) {
      const [, rounds, hex = ''] = hash.split(':')
      return timingSafeEqual(Buffer.from(hex, 'hex'), derive(password, Number(rounds)))
    },
  }

  it('open the account once and are argon2id afterwards', async () => {
    const host = await openHost({ legacyVerifiers: [pbkdf2] })
    const hash = imported(goodPassword, 1000)
    await plant(host, surface, email, hash)
    expect(outcomeOf(await login(host, surface, otherPassword))).toBe('401 invalid_credentials')
    expect(await storedHash(host, surface, email)).toBe(hash)
    expect(outcomeOf(await login(host, surface))).toBe('200')
    expect(formOf(await storedHash(host, surface, email))).toEqual({ ...strong, m: 64, t: 1 })
    expect(outcomeOf(await login(host, surface))).toBe('200')
  })

  it('open nothing where the verifier refuses their costs, or there is none', async () => {
    for (const legacyVerifiers of [[pbkdf2], []]) {
      const host = await openHost({ legacyVerifiers })
      const hash = imported(goodPassword, 10_000)
      await plant(host, surface, email, hash)
      const unknown = await host.send('POST', `/v1/auth/${surface}/login`, {
        body: { email: 'nobody@example.org', password: goodPassword },
      })
      expect(seenOf(await login(host, surface))).toEqual(seenOf(unknown))
      expect(await storedHash(host, surface, email)).toBe(hash)
    }
  })
})
