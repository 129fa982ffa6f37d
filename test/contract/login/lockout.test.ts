import { describe, expect, it } from 'vitest'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import type { PasswordHasher } from '../../../src/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, openHostAtOneAddress, outcomeOf, seenOf } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { goodPassword, otherPassword, person } from '../../support/people/people.js'

const minute = 60_000
const limited = '429 rate_limited'
const wrong = '401 invalid_credentials'

function login(
  host: ContractHost,
  surface: Surface,
  email: string,
  password: string,
  from?: string,
): Promise<Reply> {
  return host.send('POST', `/v1/auth/${surface}/login`, {
    body: { email, password },
    headers: from === undefined ? {} : { 'x-forwarded-for': from },
  })
}

async function times<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let index = 0; index < count; index += 1) results.push(await work(index))
  return results
}

/** A hasher whose verifications wait until they are let go. */
function holdingHasher(): PasswordHasher & { letGo(): void; readonly started: Promise<void> } {
  const inner = argon2Hasher()
  let letGo = (): void => {}
  let start = (): void => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const started = new Promise<void>((resolve) => {
    start = resolve
  })
  return {
    letGo: () => letGo(),
    started,
    hash: (password, params, salt) => inner.hash(password, params, salt),
    async verify(phc, password) {
      start()
      await gate
      return inner.verify(phc, password)
    },
  }
}

eachHost.describe('the guess budget', (kind) => {
  eachSurface.it('holds against 200 parallel guesses', async (surface) => {
    const hasher = countingHasher(argon2Hasher())
    // From 200 addresses, each below its rate.
    const host = await openHost({ hash: { ...cheapHash, implementation: hasher } }, kind)
    const { email, password } = await person(host, surface)
    const guesses = Array.from({ length: 200 }, (_, index) =>
      login(host, surface, email, `a wrong passphrase ${index}`),
    )
    const outcomes = (await Promise.all(guesses)).map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === wrong)).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === limited)).toHaveLength(190)
    expect(hasher.verified).toHaveLength(10)

    const late = await login(host, surface, email, password)
    expect([outcomeOf(late), late.headers.get('retry-after')]).toEqual([limited, '900'])
    await host.clock.advance(15 * minute - 1)
    expect(outcomeOf(await login(host, surface, email, password))).toBe(limited)
    expect(hasher.verified).toHaveLength(10)
    await host.clock.advance(1)
    expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
  })
})

eachSurface.describe('the guess budget', (surface) => {
  it('is the same for an address without an account', async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } })
    const { email } = await person(host, surface)
    const known = await times(5, () => login(host, surface, email, otherPassword))
    const unknown = await times(5, () => login(host, surface, 'no@example.org', otherPassword))
    expect(known.map(outcomeOf)).toEqual([wrong, wrong, wrong, limited, limited])
    expect(unknown.map(seenOf)).toEqual(known.map(seenOf))
  })

  it('counts all spellings and both doors of one surface together', async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } })
    const { email, password } = await person(host, surface)
    await login(host, surface, email.toUpperCase(), otherPassword)
    await login(host, surface, ` ${email}`, otherPassword)
    await host.send('POST', `/v1/auth/${surface}/mobile/login`, {
      body: { email, password: otherPassword },
    })
    expect(outcomeOf(await login(host, surface, email, password))).toBe(limited)
    const mobile = await host.send('POST', `/v1/auth/${surface}/mobile/login`, {
      body: { email, password },
    })
    expect(outcomeOf(mobile)).toBe(limited)
  })

  it("knows nothing of the other surface's guesses, nor of other addresses", async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } })
    const other = surface === 'operator' ? 'client' : 'operator'
    const { email, password } = await person(host, surface)
    const neighbour = await person(host, surface)
    await times(4, () => login(host, other, email, otherPassword))
    await times(4, () => login(host, surface, neighbour.email, otherPassword))
    expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
  })

  it('starts anew with every right password', async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } })
    const { email, password } = await person(host, surface)
    for (let round = 0; round < 3; round += 1) {
      const failures = await times(2, () => login(host, surface, email, otherPassword))
      expect(failures.map(outcomeOf)).toEqual([wrong, wrong])
      expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
    }
  })

  it('can be switched off', async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 0 } })
    const { email, password } = await person(host, surface)
    const failures = await times(15, () => login(host, surface, email, otherPassword))
    expect(new Set(failures.map(outcomeOf))).toEqual(new Set([wrong]))
    expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
  })

  it('is not stretched by guesses made while it is used up', async () => {
    const settings = { lockoutThreshold: 3, lockoutDuration: '5m' }
    const host = await openHostAtOneAddress({ settings })
    const { email, password } = await person(host, surface)
    await times(3, () => login(host, surface, email, otherPassword))
    await times(4, async () => {
      await host.clock.advance(minute)
      return login(host, surface, email, otherPassword)
    })
    await host.clock.advance(minute)
    expect(outcomeOf(await login(host, surface, email, password))).toBe('200')
  })

  it('is given back to who proves the address by a reset', async () => {
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 } })
    const { email } = await person(host, surface)
    await times(3, () => login(host, surface, email, 'a wrong passphrase'))
    await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email } })
    await host.auth.close()
    const { token } = host.mailer.last('resetPassword', email).data
    await host.send('POST', `/v1/auth/${surface}/password/reset`, {
      body: { token, newPassword: otherPassword },
    })
    expect(outcomeOf(await login(host, surface, email, otherPassword))).toBe('200')
  })

  it('does not count a login the server was too busy for, known address or not', async () => {
    const hasher = holdingHasher()
    const hash = { ...cheapHash, implementation: hasher, concurrency: 1, queue: 0 }
    const host = await openHostAtOneAddress({ settings: { lockoutThreshold: 3 }, hash })
    const { email, password } = await person(host, surface)
    const first = login(host, surface, email, password)
    await hasher.started
    const busy = await times(5, () => login(host, surface, email, otherPassword))
    const unknown = await times(5, () => login(host, surface, 'no@example.org', otherPassword))
    expect(busy.map(outcomeOf)).toEqual(busy.map(() => '503 server_busy'))
    expect(busy[0]?.headers.get('retry-after')).toBe('1')
    expect(unknown.map(seenOf)).toEqual(busy.map(seenOf))
    hasher.letGo()
    expect(outcomeOf(await first)).toBe('200')
    const guesses = await times(4, () => login(host, surface, 'no@example.org', otherPassword))
    expect(guesses.map(outcomeOf)).toEqual([wrong, wrong, wrong, limited])
  })
})

describe('the login rate of one address', () => {
  it.each([
    ['operator', 20],
    ['client', 60],
  ] as const)('is, on the %s surface, %i a minute by default', async (surface, rate) => {
    const host = await openHostAtOneAddress()
    const { email, password } = await person(host, surface)
    const from = '203.0.113.7'
    const replies = await times(rate + 1, (index) =>
      login(host, surface, `nobody-${index}@example.org`, goodPassword, from),
    )
    expect(replies.map(outcomeOf)).toEqual([...Array<string>(rate).fill(wrong), limited])
    expect(replies.at(-1)?.headers.get('retry-after')).toBe('60')
    // Whoever is right, from there it is refused; from elsewhere it is not.
    expect(outcomeOf(await login(host, surface, email, password, from))).toBe(limited)
    expect(outcomeOf(await login(host, surface, email, password, '203.0.113.8'))).toBe('200')
    await host.clock.advance(minute)
    expect(outcomeOf(await login(host, surface, email, password, from))).toBe('200')
  })

  it.each([
    ['operator', { loginRateOperator: 3 }],
    ['client', { loginRateClient: 3 }],
  ] as const)('is a setting of the %s surface alone', async (surface, settings) => {
    const host = await openHostAtOneAddress({ settings })
    const other = surface === 'operator' ? 'client' : 'operator'
    const from = '203.0.113.7'
    const attempt = (where: Surface, index: number) =>
      login(host, where, `nobody-${index}@example.org`, goodPassword, from)
    const own = await times(4, (index) => attempt(surface, index))
    expect(own.map(outcomeOf)).toEqual([wrong, wrong, wrong, limited])
    const others = await times(4, (index) => attempt(other, index))
    expect(others.map(outcomeOf)).toEqual([wrong, wrong, wrong, wrong])
  })

  it('counts the web and the mobile door together, and an IPv6 /64 as one address', async () => {
    const host = await openHostAtOneAddress({ settings: { loginRateClient: 3 } })
    const replies = await times(4, (index) =>
      host.send('POST', `/v1/auth/client/${index % 2 === 0 ? 'login' : 'mobile/login'}`, {
        body: { email: `nobody-${index}@example.org`, password: goodPassword },
        headers: { 'x-forwarded-for': `2001:db8:0:1::${index + 1}` },
      }),
    )
    expect(replies.map(outcomeOf)).toEqual([wrong, wrong, wrong, limited])
    const neighbour = await login(host, 'client', 'n@example.org', goodPassword, '2001:db8:0:2::1')
    expect(outcomeOf(neighbour)).toBe(wrong)
  })
})
