import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  generousSurfaces,
  mailedToken,
  openHost,
  openHostAtOneAddress,
  outcomeOf,
  seenOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword, person } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const email = 'ada@example.org'
const minute = 60_000
const day = 24 * 60 * minute

/** An account whose address nobody confirmed. */
function made(host: ContractHost, surface: Surface, address = email) {
  return host.auth[surface].users.create({ email: address, password: goodPassword })
}

function verify(host: ContractHost, surface: Surface, token: string) {
  const body = { token, newPassword: goodPassword }
  return host.send('POST', `/v1/auth/${surface}/email/verify`, { body })
}

function resend(host: ContractHost, surface: Surface, address: string, from?: string) {
  return host.send('POST', `/v1/auth/${surface}/email/verify/resend`, {
    body: { email: address },
    headers: from === undefined ? {} : { 'x-forwarded-for': from },
  })
}

async function waiting(host: ContractHost, surface: Surface): Promise<string> {
  await made(host, surface)
  await resend(host, surface, email)
  return mailedToken(host, 'verifyEmail', email)
}

async function isVerified(host: ContractHost, surface: Surface): Promise<boolean> {
  return (await storedUser(host, surface, email)).emailVerifiedAt !== null
}

eachSurface.describe('verification links', (surface) => {
  it('work once', async () => {
    const host = await openHost()
    const token = await waiting(host, surface)
    const first = await verify(host, surface, token)
    expect([first.status, first.text]).toEqual([200, '{"status":"verified"}'])
    expect(await isVerified(host, surface)).toBe(true)
    expect(eventsOf(host, 'email.verified')).toMatchObject([{ surface }])
    expect(outcomeOf(await verify(host, surface, token))).toBe('400 invalid_token')
  })

  it('die when a newer one is mailed', async () => {
    const host = await openHost()
    const older = await waiting(host, surface)
    await resend(host, surface, email)
    const newer = await mailedToken(host, 'verifyEmail', email)
    expect(outcomeOf(await verify(host, surface, older))).toBe('400 invalid_token')
    expect(await isVerified(host, surface)).toBe(false)
    expect(outcomeOf(await verify(host, surface, newer))).toBe('200')
  })

  it.each([
    ['24h', day],
    // Three mails an hour: the last of them lives until there are more.
    ['15m', 60 * minute],
    ['7d', 7 * day],
  ])(
    'with %s, expire exactly after that, and never before there are more mails',
    async (emailVerificationTTL, ms) => {
      const host = await openHost({ settings: { emailVerificationTTL } })
      const token = await waiting(host, surface)
      const { expiresAt } = host.mailer.last('verifyEmail', email).data
      expect(expiresAt).toBe(host.clock.now() + ms)
      await host.clock.advance(ms)
      expect(outcomeOf(await verify(host, surface, token))).toBe('400 token_expired')
      expect(await isVerified(host, surface)).toBe(false)

      await resend(host, surface, email)
      const next = await mailedToken(host, 'verifyEmail', email)
      await host.clock.advance(ms - 1)
      expect(outcomeOf(await verify(host, surface, next))).toBe('200')
    },
  )

  it('open nothing on the other surface', async () => {
    const host = await openHost()
    const other = surface === 'operator' ? 'client' : 'operator'
    const token = await waiting(host, surface)
    await made(host, other)
    expect(outcomeOf(await verify(host, other, token))).toBe('400 invalid_token')
    expect([await isVerified(host, surface), await isVerified(host, other)]).toEqual([false, false])
  })

  it('are refused alike in every damaged form, and never fail the server', async () => {
    const host = await openHost()
    const token = await waiting(host, surface)
    const [locator = '', secret = ''] = token.split('.')
    const { id } = await storedUser(host, surface, email)
    const locatorOf = (text: string) => Buffer.from(text).toString('base64url')
    const damaged = [
      locator,
      `${locator}.`,
      `.${secret}`,
      '.',
      `${locator}.${secret.slice(0, -1)}`,
      `${locator}.${secret}x`,
      `${locator}.${secret}.${secret}`,
      `${locator}.${Buffer.alloc(32).toString('base64url')}`,
      `${locatorOf(`resetPassword:${id}`)}.${secret}`,
      `${locatorOf(`expiredPassword:${id}`)}.${secret}`,
      `${locatorOf(`verifyEmail:${id.toUpperCase()}`)}.${secret}`,
      `${locatorOf('verifyEmail:\0')}.${secret}`,
      `${locatorOf('__proto__:x')}.${secret}`,
      'x'.repeat(8192),
    ]
    const replies = await Promise.all(damaged.map((one) => verify(host, surface, one)))
    expect(replies.map(outcomeOf)).toEqual(damaged.map(() => '400 invalid_token'))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(outcomeOf(await verify(host, surface, token))).toBe('200')
  })

  it('die with the account that is disabled, for good', async () => {
    const host = await openHost()
    const token = await waiting(host, surface)
    const { id } = await storedUser(host, surface, email)
    await host.auth[surface].users.update(id, { enabled: false })
    expect(outcomeOf(await verify(host, surface, token))).toBe('400 invalid_token')
    await host.auth[surface].users.update(id, { enabled: true })
    expect(outcomeOf(await verify(host, surface, token))).toBe('400 invalid_token')
    expect(await isVerified(host, surface)).toBe(false)
  })

  it('work again when the store failed halfway', async () => {
    const faulty = faultyBackend(memory())
    const host = await openHost({ backend: faulty.backend })
    const token = await waiting(host, surface)
    for (const call of [`${surface}_users.update`, `${surface}_intents.take`]) {
      faulty.failNext(call, 'before')
      expect(outcomeOf(await verify(host, surface, token))).toBe('503 service_unavailable')
    }
    expect(outcomeOf(await verify(host, surface, token))).toBe('200')
    expect(eventsOf(host, 'email.verified')).toHaveLength(1)
  })

  it('are mailed where due, and every caller sees the same', async () => {
    const host = await openHost()
    await made(host, surface)
    const verified = await person(host, surface)
    const disabled = await person(host, surface)
    await made(host, surface, 'off@example.org')
    for (const address of [disabled.email, 'off@example.org']) {
      const { id } = await storedUser(host, surface, address)
      await host.auth[surface].users.update(id, { enabled: false })
    }
    const machine = { ...(await storedUser(host, surface, verified.email)), emailVerifiedAt: null }
    await storedIn(host, surface).users.insert({
      ...machine,
      id: '01940000-0000-7000-8000-000000000001',
      email: 'machine@example.org',
      kind: 'service',
    })
    await host.auth.close()
    host.mailer.clear()
    const addresses = [email, verified.email, disabled.email, 'off@example.org']
    const all = [...addresses, 'machine@example.org', 'nobody@example.org']
    const seen = []
    for (const address of all) seen.push(seenOf(await resend(host, surface, address)))
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(seen[0]).toMatchObject({ status: 202, text: '{"status":"accepted"}' })
    await host.auth.close()
    expect(host.mailer.sent.map(({ to, template }) => [to, template])).toEqual([
      [email, 'verifyEmail'],
    ])
  })

  it('are mailed three times an hour to one address, known or not', async () => {
    const host = await openHostAtOneAddress()
    const known = await person(host, surface)
    const seen: unknown[] = []
    for (const [address, from] of [
      [known.email, '203.0.113.1'],
      ['nobody@example.org', '203.0.113.2'],
    ] as const) {
      const replies = []
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const spelling = attempt % 2 === 0 ? address : address.toUpperCase()
        replies.push(await resend(host, surface, spelling, from))
      }
      expect(replies.map(outcomeOf)).toEqual(['202', '202', '202', '429 rate_limited'])
      seen.push(replies.map(seenOf))
      expect(replies.at(-1)?.headers.get('retry-after')).toBe('3600')
    }
    expect(seen[0]).toEqual(seen[1])
    await host.clock.advance(60 * minute)
    expect(outcomeOf(await resend(host, surface, known.email))).toBe('202')
  })

  it('share five requests in 15 minutes with all recovery from one address', async () => {
    const host = await openHost()
    const from = '203.0.113.9'
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(outcomeOf(await resend(host, surface, `n${attempt}@example.org`, from))).toBe('202')
    }
    const late = await resend(host, surface, 'n6@example.org', from)
    expect([outcomeOf(late), late.headers.get('retry-after')]).toEqual(['429 rate_limited', '900'])
    expect(outcomeOf(await resend(host, surface, 'n6@example.org'))).toBe('202')
    await host.clock.advance(15 * minute)
    expect(outcomeOf(await resend(host, surface, 'n6@example.org', from))).toBe('202')
  })
})

eachHost.describe('verification links', (kind) => {
  eachSurface.it('have one winner of 16 parallel uses', async (surface) => {
    const host = await openHost({ surfaces: generousSurfaces }, kind)
    const { users } = storedIn(host, surface)
    const { id } = await host.auth[surface].users.create({ email })
    for (let round = 0; round < 5; round += 1) {
      await users.update(id, { enabled: true }, { emailVerifiedAt: null })
      await resend(host, surface, email)
      const token = await mailedToken(host, 'verifyEmail', email)
      const uses = Array.from({ length: 16 }, () =>
        host.send('POST', `/v1/auth/${surface}/email/verify`, { body: { token } }),
      )
      const outcomes = (await Promise.all(uses)).map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === '400 invalid_token')).toHaveLength(15)
      expect(await isVerified(host, surface)).toBe(true)
    }
  })
})
