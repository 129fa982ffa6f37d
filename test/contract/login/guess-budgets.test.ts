import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Counter } from '../../../src/ports/backend.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Enrolled, enrolled } from '../../support/people/authenticator.js'
import { otherPassword, type Person, person } from '../../support/people/people.js'
import { recognitionOf } from '../../support/people/recognition-steps.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { trusting } from '../../support/people/trusted-device.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const minute = 60_000
const limited = '429 rate_limited'
const wrongPassword = '401 invalid_credentials'
const wrongCode = '401 invalid_mfa_code'
const surface: Surface = 'client'
const base = '/v1/auth/client'

const open = (options: HostOptions = {}) => openHost({ ...withoutLimits, ...options })

async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

async function login(host: ContractHost, { email, password }: Person, cookie?: string) {
  const kept = cookie === undefined ? {} : { cookie }
  const reply = await host.send('POST', `${base}/login`, { body: { email, password }, ...kept })
  // The login is remembered beside the reply.
  await host.auth.close()
  return reply
}

const guess = async (host: ContractHost, who: Person, cookie?: string) =>
  outcomeOf(await login(host, { ...who, password: 'wrong' }, cookie))

/** As many as are looked at, up to `most`. */
async function useUp(attempt: () => Promise<string>, most = 40): Promise<number> {
  for (let looked = 0; looked < most; looked += 1) if ((await attempt()) === limited) return looked
  return most
}

/** A browser that signs in with the password, and with a code where there is a factor. */
async function browser(host: ContractHost, who: Person | Enrolled, kept?: string) {
  const reply = await login(host, who, kept)
  if (reply.json()['status'] === 'authenticated') return recognitionOf(reply) ?? ''
  if (!('nextCode' in who)) throw new Error(reply.text)
  const code = await who.nextCode()
  const again = await login(host, who, kept)
  const mfaToken = textOf(again.json(), 'mfaToken')
  const body = { mfaToken, method: 'totp', code }
  const done = await host.send('POST', `${base}/login/mfa`, {
    body,
    ...(kept === undefined ? {} : { cookie: kept }),
  })
  await host.auth.close()
  return recognitionOf(done) ?? done.text
}

async function code(
  host: ContractHost,
  who: Person,
  shown: string,
  cookie?: string,
  method: 'totp' | 'backupCode' = 'totp',
) {
  const kept = cookie === undefined ? {} : { cookie }
  const first = await login(host, who, cookie)
  if (first.status !== 200) return outcomeOf(first)
  const body = { mfaToken: textOf(first.json(), 'mfaToken'), method, code: shown }
  return outcomeOf(await host.send('POST', `${base}/login/mfa`, { body, ...kept }))
}

async function resetHere(host: ContractHost, who: Person, newPassword = otherPassword) {
  const reply = await reset(host, surface, await linkFor(host, surface, who.email), newPassword)
  expect(reply.status).toBe(204)
  const [cookie = ''] = reply.setCookies.filter((line) => line.includes('_sign_in='))
  return { cookie, key: cookie.split(';')[0] ?? '', after: { ...who, password: newPassword } }
}

it('in a day of guesses every owner signs in 96 of 96 times from a known browser, and a stranger has 960', async () => {
  const host = await open()
  const who = await person(host, surface)
  const known = await browser(host, who)
  let [guesses, signedIn, own] = [0, 0, 0]
  for (let quarter = 0; quarter < 96; quarter += 1) {
    guesses += await useUp(() => guess(host, who))
    if ((await login(host, who, known)).status === 200) signedIn += 1
    if (quarter < 4) own += await useUp(() => guess(host, who, known))
    await pass(host, 15 * minute)
  }
  expect([guesses, signedIn, own]).toEqual([960, 96, 40])
  const told = eventsOf(host, 'login.lockedOut').map(({ budget }) => budget)
  expect([told.filter((budget) => budget === 'address').length, told[1]]).toEqual([
    96,
    'knownDevice',
  ])
}, 20_000)

it('a success forgives the guesses of its own budget alone', async () => {
  const host = await open()
  const who = await person(host, surface)
  const known = await browser(host, who)
  for (let n = 0; n < 9; n += 1) {
    await guess(host, who)
    await guess(host, who, known)
  }
  expect((await login(host, who, known)).status).toBe(200)
  expect(await useUp(() => guess(host, who, known))).toBe(10)
  expect(await useUp(() => guess(host, who))).toBe(1)
})

it('who once knew the password has eight budgets, and none after it was changed', async () => {
  const host = await open()
  const who = await person(host, surface)
  const farmed: string[] = []
  for (let n = 0; n < 10; n += 1) {
    await pass(host, 1000)
    // From many networks: of one, the history keeps eight.
    const { email, password } = who
    const headers = { 'x-forwarded-for': `198.51.${n}.1` }
    const reply = await host.send('POST', `${base}/login`, { body: { email, password }, headers })
    await host.auth.close()
    farmed.push(recognitionOf(reply) ?? '')
  }
  await useUp(() => guess(host, who))
  const budgets = async () => {
    const looked = await Promise.all(farmed.map((id) => useUp(() => guess(host, who, id))))
    return looked.filter((count) => count > 0).length
  }
  expect(await budgets()).toBe(8)
  await resetHere(host, who)
  await useUp(() => guess(host, who))
  expect(await budgets()).toBe(0)
})

it('the session that changed the password keeps the budget of its browser, and no other does', async () => {
  const host = await open()
  const who = await person(host, surface)
  const other = await browser(host, who)
  const here = await login(host, who)
  const known = recognitionOf(here) ?? ''
  const body = { currentPassword: who.password, newPassword: otherPassword }
  const own = textOf(here.json(), 'accessToken')
  expect((await host.send('POST', `${base}/me/password`, { bearer: own, body })).status).toBe(204)
  await useUp(() => guess(host, who))
  expect(await guess(host, who, other)).toBe(limited)
  expect(await guess(host, who, known)).toBe(wrongPassword)
})

it('a new hash of the same password and a used backup code leave the budgets', async () => {
  const host = await open()
  const who = await enrolled(host, surface)
  const known = await browser(host, who)
  const before = await storedUser(host, surface, who.email)
  const mfaToken = textOf((await login(host, who, known)).json(), 'mfaToken')
  const body = { mfaToken, method: 'backupCode', code: who.backupCodes[0] }
  expect((await host.send('POST', `${base}/login/mfa`, { body })).status).toBe(200)
  const { secretsEpoch } = await storedUser(host, surface, who.email)
  expect(secretsEpoch).toBe(before.secretsEpoch)
  await useUp(() => guess(host, who))
  expect((await login(host, who, known)).status).toBe(200)
})

it('after a reset a browser signs in beside the guesses of strangers, for an hour', async () => {
  const host = await open()
  const who = await person(host, surface)
  const { cookie, key, after } = await resetHere(host, who)
  expect(cookie).toMatch(
    /^__Host-cl_sign_in=[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
  await useUp(() => guess(host, who))
  expect(await guess(host, who, key)).toBe(wrongPassword)
  const done = await login(host, after, key)
  expect(done.status).toBe(200)
  expect(await useUp(() => guess(host, who, key))).toBe(10)
  expect(eventsOf(host, 'login.lockedOut').at(-1)?.budget).toBe('signInKey')
  // It makes no known device: the next reset's key is another, and this one is worth nothing.
  const next = await resetHere(host, who, 'a third long phrase 3')
  await useUp(() => guess(host, who))
  expect(await guess(host, who, key)).toBe(limited)
  expect(await guess(host, who, next.key)).toBe(wrongPassword)
  await pass(host, 60 * minute)
  await useUp(() => guess(host, who))
  expect(await guess(host, who, next.key)).toBe(limited)
})

it('an app gets its key in the body, and shows it at its login', async () => {
  const host = await open()
  const who = await person(host, surface)
  const token = await linkFor(host, surface, who.email)
  const reply = await host.send('POST', `${base}/password/reset`, {
    body: { token, newPassword: otherPassword },
    headers: { 'x-token-delivery': 'body' },
  })
  expect([reply.status, reply.setCookies, reply.json()['expiresIn']]).toEqual([200, [], 3600])
  const signInKey = textOf(reply.json(), 'signInKey')
  await useUp(() => guess(host, who))
  const body = { email: who.email, password: otherPassword }
  const at = async (more: object) =>
    outcomeOf(await host.send('POST', `${base}/mobile/login`, { body: { ...body, ...more } }))
  expect([await at({}), await at({ signInKey })]).toEqual([limited, '200'])
})

it('strangers who know the password have fewer than fifty codes a day beside the owner’s own', async () => {
  const host = await open()
  const who = await enrolled(host, surface)
  const known = await browser(host, who)
  await pass(host, 6 * minute)
  let [strangers, signedIn] = [0, 0]
  for (let hour = 0; hour < 24; hour += 1) {
    strangers += await useUp(() => code(host, who, '1234567'))
    if ((await browser(host, who, known)) === known) signedIn += 1
    await pass(host, 60 * minute - 30_000)
  }
  expect(strangers).toBeLessThan(50)
  expect(signedIn).toBe(24)
  expect(await useUp(() => code(host, who, '1234567', known))).toBe(10)
  expect(eventsOf(host, 'mfa.lockedOut').at(-1)?.budget).toBe('knownDevice')
}, 20_000)

it('a device that showed a password alone has no codes of its own', async () => {
  const host = await open()
  const who = await enrolled(host, surface)
  // Its login was before the factor; another one of before the epochs were kept has none either.
  const { knownLogins } = storedIn(host, surface)
  const known = await browser(host, who)
  const [row] = (await knownLogins.find({ userId: who.id }, { limit: 9 })).filter(
    ({ mfaMethod }) => mfaMethod === 'totp',
  )
  await knownLogins.update(row?.id ?? '', { userId: who.id }, { factorEpoch: -1 })
  await pass(host, 6 * minute)
  await useUp(() => code(host, who, '1234567'))
  expect(await code(host, who, '1234567', known)).toBe(limited)
})

it('a key of a mailbox gives ten codes a month, however often the password is reset', async () => {
  const host = await open()
  const who = await enrolled(host, surface)
  await useUp(() => code(host, who, '1234567'))
  let looked = 0
  for (let round = 0; round < 3; round += 1) {
    const { key, after } = await resetHere(host, who, `${otherPassword} ${round}`)
    looked += await useUp(() => code(host, after, '1234567', key))
    await pass(host, minute)
  }
  expect(looked).toBe(10)
  // Whoever uses up the key goes on with the guesses of the account, so only those are told of.
  expect(eventsOf(host, 'mfa.lockedOut').map(({ budget }) => budget)).toEqual(['address'])
})

it('a login by a trusted device leaves what the browser proved before', async () => {
  const host = await open({ settings: { ...withoutLimits.settings, ...trusting.settings } })
  const who = await enrolled(host, surface)
  const mfaToken = textOf((await login(host, who)).json(), 'mfaToken')
  const body = { mfaToken, method: 'totp', code: await who.nextCode(), trustDevice: true }
  const home = { 'x-forwarded-for': '192.0.2.7' }
  const done = await host.send('POST', `${base}/login/mfa`, { body, headers: home })
  const jar = done.setCookies.map((line) => line.split(';')[0]).join('; ')
  await host.auth.close()
  const { email, password } = who
  const again = await host.send('POST', `${base}/login`, {
    body: { email, password },
    headers: home,
    cookie: jar,
  })
  await host.auth.close()
  expect(again.json()['status']).toBe('authenticated')
  const rows = await storedIn(host, surface).knownLogins.find({ userId: who.id }, { limit: 9 })
  const own = rows.filter(({ recognitionHash, ip }) => recognitionHash && ip === '192.0.2.7')
  expect(own.map((row) => [row.mfaMethod, row.factorEpoch === row.secretsEpoch])).toEqual([
    [null, true],
  ])
})

it('an unknown address costs the same look-ups of ids as one with an account', async () => {
  const store = faultyBackend(memory())
  const host = await open({ backend: store.backend })
  const who = await person(host, surface)
  const cookie = `__Host-cl_recognition=${['a', 'b', 'c'].map((one) => one.repeat(22)).join('.')}`
  async function callsOf(email: string, shown?: string) {
    const before = store.calls.length
    expect(await guess(host, { ...who, email }, shown)).toBe(wrongPassword)
    return store.calls.slice(before).filter((name) => !/audit_records|_modules/.test(name))
  }
  const finds = (calls: readonly string[]) =>
    calls.filter((name) => name === 'client_known_logins.find').length
  const [known, unknown] = [
    await callsOf(who.email, cookie),
    await callsOf('nobody@example.org', cookie),
  ]
  expect(known.toSorted()).toEqual(unknown.toSorted())
  expect([finds(known), finds(await callsOf(who.email))]).toEqual([4, 1])
})

it('with deviceRecognition: false there are no budgets beside that of the address', async () => {
  const host = await open({ deviceRecognition: false })
  const who = await person(host, surface)
  const { cookie, after } = await resetHere(host, who)
  expect(cookie).toBe('')
  await useUp(() => guess(host, who))
  expect(outcomeOf(await login(host, after))).toBe(limited)
})

/** A counter that tells which counts it holds. */
function told(counter: Counter) {
  const held = new Set<string>()
  const { add } = counter
  const noted = <T>(key: string, work: Promise<T>) => {
    held.add(key)
    return work
  }
  const telling: Counter = {
    ...counter,
    hit: (key, ...rest) => noted(key, counter.hit(key, ...rest)),
    ...(add && { add: (key, ...rest) => noted(key, add.call(counter, key, ...rest)) }),
    forgive(key, hits) {
      if (hits === undefined) held.delete(key)
      return counter.forgive(key, hits)
    },
    sweep: (...asked) => counter.sweep(...asked),
  }
  const names = () =>
    [...held]
      .map((key) => key.split(':')[1] ?? '')
      .filter((name) => /Failures|Lockouts/.test(name) && !/Of(Session|Link)$/.test(name))
  return { telling, names }
}

it('every counter of guesses at an account is gone after a reset of its factors and a deletion', async () => {
  const backend = memory()
  const { telling, names } = told(backend.counter)
  const host = await open({ backend: { ...backend, counter: telling } })
  const who = await enrolled(host, surface)
  const known = await browser(host, who)
  const stepUp = (method: string, shown: string) =>
    host.send('POST', `${base}/step-up`, { bearer: who.bearer, body: { method, code: shown } })
  async function guessAll(shown: Person, ...cookies: readonly (string | undefined)[]) {
    for (const cookie of cookies) {
      for (const method of ['totp', 'backupCode'] as const) {
        await useUp(() => code(host, shown, '00000-00000', cookie, method))
      }
      await guess(host, shown, cookie)
    }
  }
  for (const method of ['totp', 'backupCode']) await stepUp(method, '00000-00000')
  await guessAll(who, undefined, known)
  const ofFactors = ['totp', 'backupCode'].flatMap((kind) => {
    const at = [`${kind}Failures`, `${kind}FailuresOfDay`]
    return [...at, ...at, `${kind}FailuresInSessions`, `${kind}FailuresInSessionsOfDay`]
  })
  const lockouts = ['factorLockouts', 'factorLockouts']
  const ofPasswords = ['passwordFailures', 'passwordFailuresOfDevice']
  const { key, after } = await resetHere(host, who)
  // A mailbox alone gives no fresh codes.
  expect(names().toSorted()).toEqual([...ofFactors, ...lockouts].toSorted())
  await guessAll(after, undefined, key)
  expect(names()).toEqual(
    expect.arrayContaining(['factorFailuresOfSignInKey', 'passwordFailuresOfSignInKey']),
  )
  await host.auth.client.users.resetMfa(who.id)
  expect(names().filter((name) => !name.startsWith('password'))).toEqual([])
  const again = await browser(host, after, known)
  await guessAll({ ...after, password: 'wrong' }, undefined, again, key)
  expect(names().toSorted()).toEqual([...ofPasswords, 'passwordFailuresOfSignInKey'].toSorted())
  await host.auth.client.users.delete(who.id)
  expect(names()).toEqual([])
})

it('the codes of a user are limited apart for each known device', async () => {
  const { loginRateClient } = withoutLimits.settings
  const { mfaPerUser: _, ...rateLimits } = withoutLimits.surfaces.client.rateLimits
  const { operator, client } = withoutLimits.surfaces
  const host = await open({
    surfaces: { operator, client: { ...client, rateLimits } },
    settings: { loginRateClient, lockoutThreshold: 100 },
  })
  const who = await enrolled(host, surface)
  const known = await browser(host, who)
  await pass(host, 6 * minute)
  expect(await useUp(() => code(host, who, '1234567'))).toBe(10)
  expect(await code(host, who, '1234567', known)).toBe(wrongCode)
})

eachHost.describe('the key of a reset', (kind) => {
  eachSurface.it('is set, and read, by each framework', async (each) => {
    const host = await openHost(withoutLimits, kind)
    const who = await person(host, each)
    const token = await linkFor(host, each, who.email)
    const done = await reset(host, each, token, otherPassword)
    const key = done.setCookies.map((line) => line.split(';')[0]).join('; ')
    const at = async (password: string, kept?: string) =>
      outcomeOf(
        await host.send('POST', `/v1/auth/${each}/login`, {
          body: { email: who.email, password },
          ...(kept === undefined ? {} : { cookie: kept }),
        }),
      )
    await useUp(() => at('wrong'))
    expect([await at(otherPassword), await at(otherPassword, key)]).toEqual([limited, '200'])
  })
})
