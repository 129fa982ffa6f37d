import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { parsePhc } from '../../../src/crypto/phc.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  generousSurfaces,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { type DoorOutcome, doors, ofReply, refusedFor, reset } from './password-doors.js'

type Settings = NonNullable<HostOptions['settings']>

const set: DoorOutcome = ['set', '']
/** Of no pattern and no word, so that only its length is ever in question. */
const noise = 'kT9-vm2#pLw8zRd4^hN6&bQ3*'
const emoji = '🐎🔋📎✅🦊🐙🌵🍋🎈🎲🚲🛶⛵🧭🏺'

describe.each(
  eachSurface.cells.flatMap((surface) => doors.map((door) => [surface, ...door] as const)),
)('passwords set [%s] by %s', (surface, _, door) => {
  let subjects = 0
  /** Tries the password for somebody new, on a host with these settings. */
  async function attempt(
    password: string,
    settings: Settings = {},
    subject: { readonly email?: string; readonly name?: string } = {},
  ): Promise<DoorOutcome> {
    const host = await openHost({ settings })
    subjects += 1
    const account = { email: `s${subjects}@example.org`, name: '', ...subject }
    return (await door(host, surface, account))(password)
  }

  it('have 15 code points or more by default', async () => {
    expect(await attempt(noise.slice(0, 14))).toEqual(refusedFor('too_short'))
    expect(await attempt(noise.slice(0, 15))).toEqual(set)
    expect(await attempt(Array.from(emoji).slice(0, 14).join(''))).toEqual(refusedFor('too_short'))
    expect(await attempt(emoji)).toEqual(set)
  })

  it.each([8, 16, 128])('have %i code points or more where the setting says so', async (n) => {
    const settings = { passwordMinLength: n }
    const text = noise.repeat(6)
    expect(await attempt(text.slice(0, n - 1), settings)).toEqual(refusedFor('too_short'))
    expect(await attempt(text.slice(0, n), settings)).toEqual(set)
  })

  it('are measured composed', async () => {
    const decomposed = 'e\u0301'.repeat(7) + noise.slice(0, 7)
    expect(await attempt(decomposed)).toEqual(refusedFor('too_short'))
    expect(await attempt(`${decomposed}x`)).toEqual(set)
  })

  it('have 1,024 bytes at most', async () => {
    const fitting = `${noise.repeat(40)}${noise.slice(0, 24)}`
    expect(await attempt(fitting)).toEqual(set)
    expect(await attempt(`${fitting}x`)).toEqual(refusedFor('too_long'))
    expect(await attempt(`${fitting.slice(0, 1023)}é`)).toEqual(refusedFor('too_long'))
  })

  it.each(['password1234567', 'qwertyuiop123456', 'Passw0rd!Passw0rd!', 'aaaaaaaaaaaaaaaa'])(
    'are not common ones: %s',
    async (password) => {
      expect(await attempt(password)).toEqual(refusedFor('common'))
      expect(await attempt(password, { passwordBlockCommon: false })).toEqual(set)
    },
  )

  it.each([
    ['the local part', 'zq LOVELACE 93 vt mm pp', { email: 'lovelace@example.org' }],
    ['the local part in disguise', 'zq l0v3l4c3 93 vt mm pp', { email: 'lovelace@example.org' }],
    ['little but the name', 'hopper93vtmmppz', { name: 'Grace Hopper' }],
    ['little but the host', 'example93vtmmpp', {}],
  ])('are not built around %s', async (_what, password, subject) => {
    expect(await attempt(password, {}, subject)).toEqual(refusedFor('contextual'))
    expect(await attempt(password, { passwordBlockContextual: false }, subject)).toEqual(set)
  })

  it('may hold words of fewer than four characters', async () => {
    const subject = { email: 'ada@example.org', name: 'Ada Lee' }
    expect(await attempt('vm2 ada 8zRd lee 4hN', {}, subject)).toEqual(set)
  })

  it("are not built around the host's own words", async () => {
    const host = await openHost({ passwordContextWords: ['Zanzibar'] })
    const attemptOnce = await door(host, surface, { email: 's@example.org', name: '' })
    expect(await attemptOnce('zanz1bar93vtmmp')).toEqual(refusedFor('contextual'))
  })

  it('are refused for all rules they violate at once', async () => {
    const refused = await attempt('lovelace', {}, { email: 'lovelace@example.org' })
    expect(refused).toEqual(refusedFor('too_short', 'common', 'contextual'))
  })

  it('are text that can be encoded', async () => {
    const [outcome] = await attempt(`${goodPassword}\uD800`)
    expect(outcome).toBe('400 invalid_request')
  })
})

/** The passwords an account has one after the other. */
const phrase = (n: number): string => `${noise} number ${n}`

eachSurface.describe('strangers', (surface) => {
  const email = 'taken@example.org'
  const at = (path: string): string => `/v1/auth/${surface}/${path}`

  it('are told the rules alone, whether the address is taken or free', async () => {
    const host = await openHost()
    await host.auth[surface].users.create({ email, password: noise, emailVerified: true })
    const register = (address: string, password: string) =>
      host.send('POST', at('register'), { body: { email: address, password } })
    for (const weak of ['short', 'password1234567']) {
      const [taken, free] = [await register(email, weak), await register('free@a.example', weak)]
      expect(taken.json()['violations']).toEqual(
        weak === 'short' ? ['too_short', 'common'] : ['common'],
      )
      expect(taken.text).toBe(free.text)
    }
    // The very password of the account is no reuse that a stranger could be told of.
    const same = await register(email, noise)
    expect([same.status, same.json()['violations']]).toEqual([201, undefined])
  })

  it('are told no rule for a link that is not live', async () => {
    const host = await openHost()
    const body = { token: 'no such token', newPassword: 'short' }
    const reply = await host.send('POST', at('password/reset'), { body })
    expect([outcomeOf(reply), reply.json()['violations']]).toEqual(['400 invalid_token', undefined])
  })
})

eachSurface.describe('earlier passwords', (surface) => {
  const email = 'ada@example.org'
  const at = (path: string): string => `/v1/auth/${surface}/${path}`
  const used = refusedFor('reused')

  async function change(
    host: ContractHost,
    currentPassword: string,
    newPassword: string,
  ): Promise<DoorOutcome> {
    const body = { email, password: currentPassword }
    const login = await host.send('POST', at('login'), { body })
    const reply = await host.send('POST', at('me/password'), {
      bearer: textOf(login.json(), 'accessToken'),
      body: { currentPassword, newPassword },
    })
    return ofReply(reply)
  }

  async function resetTo(host: ContractHost, password: string): Promise<DoorOutcome> {
    return (await reset(host, surface, { email, name: '' }))(password)
  }

  /** A host where the account has had the passwords 1, 2, … count. */
  async function hostAfter(
    count: number,
    settings: Settings,
    backend = memory(),
  ): Promise<ContractHost> {
    const host = await openHost({ settings, backend, surfaces: generousSurfaces })
    await host.auth[surface].users.create({ email, password: phrase(1), emailVerified: true })
    for (let n = 2; n <= count; n += 1) {
      expect(await change(host, phrase(n - 1), phrase(n))).toEqual(set)
    }
    return host
  }

  it.each([
    ['5 by default', {}, 5],
    ['1', { passwordHistoryCount: 1 }, 1],
    ['2', { passwordHistoryCount: 2 }, 2],
    ['24', { passwordHistoryCount: 24 }, 24],
  ])('are refused if among the last n, the current one included: %s', async (_, settings, n) => {
    const host = await hostAfter(n + 1, settings)
    for (const old of [n + 1, 2]) {
      expect(await change(host, phrase(n + 1), phrase(old))).toEqual(used)
      expect(await resetTo(host, phrase(old))).toEqual(used)
    }
    expect(await change(host, phrase(n + 1), phrase(1))).toEqual(set)
    expect(await resetTo(host, phrase(1))).toEqual(used)
  })

  it('may all be taken again where none is remembered', async () => {
    const host = await hostAfter(2, { passwordHistoryCount: 0 })
    expect(await change(host, phrase(2), phrase(2))).toEqual(set)
    expect(await change(host, phrase(2), phrase(1))).toEqual(set)
  })

  it('are recognised after a reset as after a change', async () => {
    const host = await hostAfter(1, {})
    expect(await resetTo(host, phrase(2))).toEqual(set)
    expect(await change(host, phrase(2), phrase(1))).toEqual(used)
  })

  it('are kept as hashes, no more of them than the setting says', async () => {
    const host = await hostAfter(5, { passwordHistoryCount: 3 })
    const { id } = await storedUser(host, surface, email)
    const history = await storedIn(host, surface).passwordHistories.get(id)
    expect(history?.hashes.map((hash) => parsePhc(hash) !== null)).toEqual([true, true, true])
    expect(new Set(history?.hashes).size).toBe(3)
  })

  it('are all remembered when a change fails halfway', async () => {
    const faulty = faultyBackend(memory())
    const host = await hostAfter(2, { passwordHistoryCount: 2 }, faulty.backend)
    faulty.onCall(`${surface}_password_histories.get`, () => {
      // The next write of the user is the one that sets the password.
      faulty.failNext(`${surface}_users.update`, 'before')
    })
    expect(await change(host, phrase(2), phrase(3))).toEqual([
      '503 service_unavailable',
      'The service is not available right now.',
    ])
    expect(await change(host, phrase(2), phrase(1))).toEqual(used)
    expect(await change(host, phrase(2), phrase(3))).toEqual(set)
    expect(await change(host, phrase(3), phrase(2))).toEqual(used)
  })

  it("are one's own: nobody else's count", async () => {
    const host = await hostAfter(3, {})
    const attempt = await reset(host, surface, { email: 'bob@example.org', name: '' })
    expect(await attempt(phrase(2))).toEqual(set)
  })
})
