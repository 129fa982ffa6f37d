import { expect, it } from 'vitest'
import type { RiskAssessment, RiskQuestion, RiskScorer } from '../../../src/ports/risk-scorers.js'
import type { Surface } from '../../../src/ports/surface.js'
import { deferred } from '../../support/deferred.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, finish, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  person,
  signedInPerson,
} from '../../support/people/people.js'
import {
  comesTo,
  deviceLogin,
  trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { pass } from '../events/event-scenario.js'

const day = 86_400_000
const home = { 'x-forwarded-for': '192.0.2.7', 'user-agent': 'Browser/1.0 (Laptop)' }
const elsewhere = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'App/3 (Phone)' }

async function login(
  host: ContractHost,
  surface: Surface,
  { email, password }: Person,
  headers: Readonly<Record<string, string>>,
) {
  const body = { email, password }
  return host.send('POST', `/v1/auth/${surface}/login`, { body, headers })
}

async function mailsTo(host: ContractHost, { email }: Person): Promise<readonly unknown[]> {
  await host.auth.close()
  const mails = host.mailer.sent.filter(
    ({ to, template }) => to === email && template === 'newDevice',
  )
  return mails.map(({ data }) => data)
}

/** A scorer that answers this, and what it was asked. */
function answering(answer: () => Promise<RiskAssessment>) {
  const asked: RiskQuestion[] = []
  const riskScorer: RiskScorer = {
    assess(question) {
      asked.push(question)
      return answer()
    },
  }
  return { riskScorer, asked }
}

const failures: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['rejects', async () => Promise.reject(new Error('canary'))],
  [
    'throws',
    () => {
      throw new Error('canary')
    },
  ],
  ['answers nothing', async () => undefined],
  ['answers another level', async () => ({ level: 'none', signals: [] })],
  ['names no signals', async () => ({ level: 'low' })],
]

eachSurface.describe('a login judged', (surface) => {
  it('of a new device is mailed and told of, once, and of a first login not', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    await login(host, surface, who, home)
    expect(await mailsTo(host, who)).toEqual([])
    await login(host, surface, who, elsewhere)
    const at = host.clock.now()
    const told = { at, ip: '203.0.113.9', userAgent: 'App/3 (Phone)' }
    expect(await mailsTo(host, who)).toEqual([told])
    await login(host, surface, who, elsewhere)
    await login(host, surface, who, home)
    expect(await mailsTo(host, who)).toEqual([told])
    expect(eventsOf(host, 'login.newDevice')).toEqual([
      expect.objectContaining({
        ...told,
        surface,
        userId: who.id,
        signals: ['newDevice', 'newNetwork'],
      }),
    ])
  })

  it('a device and a network are known for 90 days from their newest login, and new from then on', async () => {
    for (const [pause, mails] of [
      [89 * day, 0],
      [90 * day - 1, 0],
      [90 * day, 1],
      [400 * day, 1],
    ] as const) {
      const host = await openHost()
      const who = await person(host, surface)
      await login(host, surface, who, home)
      await pass(host, pause)
      await login(host, surface, who, home)
      expect([pause, (await mailsTo(host, who)).length]).toEqual([pause, mails])
      // The second login begins the 90 days again.
      await pass(host, 90 * day - 1)
      await login(host, surface, who, home)
      expect([pause, (await mailsTo(host, who)).length]).toEqual([pause, mails])
    }
  })

  it('a session that was ended is remembered', async () => {
    const host = await openHost()
    const who = await person(host, surface)
    const bearer = textOf((await login(host, surface, who, home)).json(), 'accessToken')
    await host.send('POST', `/v1/auth/${surface}/logout`, { bearer })
    await login(host, surface, who, home)
    expect(await mailsTo(host, who)).toEqual([])
  })

  it('is put to the scorer with the history of its account alone, newest first', async () => {
    const { riskScorer, asked } = answering(async () => ({ level: 'low', signals: [] }))
    const host = await openHost({ riskScorer })
    await signedInPerson(host, surface)
    const who = await person(host, surface)
    const first = host.clock.now()
    await login(host, surface, who, home)
    await pass(host, day)
    await login(host, surface, { ...who, password: otherPassword }, elsewhere)
    await login(host, surface, who, elsewhere)
    await pass(host, day)
    await login(host, surface, who, home)
    const past = { deviceId: null, method: 'password', mfaMethod: null }
    const seen = (at: number, headers: typeof home, recognitionHash: unknown = null) => ({
      ...past,
      recognitionHash,
      at,
      ip: headers['x-forwarded-for'],
      userAgent: headers['user-agent'],
    })
    const given = expect.stringMatching(/^[\w-]{43}$/)
    const about = { surface, userId: who.id, failedAttempts: 0 }
    expect(asked.slice(1)).toEqual([
      { ...about, ...seen(first, home), history: [] },
      {
        ...about,
        ...seen(first + day, elsewhere),
        failedAttempts: 1,
        history: [seen(first, home, given)],
      },
      {
        ...about,
        ...seen(first + 2 * day, home),
        history: [seen(first + day, elsewhere, given), seen(first, home, given)],
      },
    ])
  })

  it('any number of logins from one place hide no other place', async () => {
    const { riskScorer, asked } = answering(async () => ({ level: 'low', signals: [] }))
    const host = await openHost({ ...withoutLimits, riskScorer })
    const who = await person(host, surface)
    await login(host, surface, who, home)
    const first = host.clock.now()
    for (let n = 0; n < 101; n += 1) {
      await host.clock.advance(1000)
      await login(host, surface, who, elsewhere)
    }
    const last = host.clock.now()
    await host.auth.close()
    await login(host, surface, who, home)
    const seen = asked.at(-1)?.history.map(({ at, ip }) => [at, ip]) ?? []
    // Without a recognition id each is another device: eight of them are kept.
    expect(seen.slice(0, 8)).toEqual(
      Array.from({ length: 8 }, (_, n) => [last - n * 1000, elsewhere['x-forwarded-for']]),
    )
    expect(seen.slice(8)).toEqual([[first, home['x-forwarded-for']]])
    await host.auth.close()
    const kept = await storedIn(host, surface).knownLogins.find({ userId: who.id }, { limit: 99 })
    const ends = kept.map(({ expiresAt }) => expiresAt).toSorted((a, b) => b - a)
    expect([ends.length, ends[0]]).toEqual([10, last + 90 * day])
  })

  it('is judged with its second factor, when that was shown', async () => {
    const { riskScorer, asked } = answering(async () => ({
      level: 'elevated',
      signals: ['newDevice'],
    }))
    const host = await openHost({ riskScorer })
    const who = await enrolled(host, surface)
    asked.splice(0)
    const mfaToken = await ticketOf(host, surface, who)
    expect([asked, await mailsTo(host, who)]).toEqual([[], []])
    await finish(host, surface, mfaToken, await who.nextCode())
    expect(asked).toMatchObject([{ userId: who.id, method: 'password', mfaMethod: 'totp' }])
    expect(await mailsTo(host, who)).toHaveLength(1)
  })

  it('a trusted device stands for nothing where the risk is high', async () => {
    let level: RiskAssessment['level'] = 'low'
    const { riskScorer, asked } = answering(async () => ({ level, signals: ['newNetwork'] }))
    const host = await openHost({ ...trusting, riskScorer })
    const who = await trustingPerson(host, surface)
    const attempt = async () =>
      comesTo(await deviceLogin(host, surface, who, who.deviceToken, 'login'))
    expect(await attempt()).toBe('authenticated')
    level = 'elevated'
    expect(await attempt()).toBe('authenticated')
    expect(asked.at(-1)).toMatchObject({ deviceId: who.deviceToken.split('.')[0] })
    level = 'high'
    const before = await mailsTo(host, who)
    expect(await attempt()).toBe('mfaRequired')
    // Who only knows the password causes no mail.
    expect(await mailsTo(host, who)).toEqual(before)
    level = 'low'
    expect(await attempt()).toBe('authenticated')
  })

  it('guessing at a password takes a trusted device’s standing from another network', async () => {
    const host = await openHost(trusting)
    const who = await trustingPerson(host, surface)
    for (let guess = 0; guess < 3; guess += 1) {
      await passwordLogin(host, surface, { ...who, password: otherPassword })
    }
    // Every request of this host comes from a network of its own.
    const attempt = () => deviceLogin(host, surface, who, who.deviceToken, 'login')
    const { knownLogins } = storedIn(host, surface)
    const past = await knownLogins.find({ userId: who.id }, { limit: 10 })
    expect(past.length).toBeGreaterThan(0)
    for (const { id } of past) {
      await knownLogins.update(id, { userId: who.id }, { ip: '203.0.113.9' })
    }
    expect(comesTo(await attempt())).toBe('mfaRequired')
  })

  it('no risk keeps anybody out who shows what is asked', async () => {
    const { riskScorer } = answering(async () => ({ level: 'high', signals: [] }))
    const host = await openHost({ riskScorer })
    const who = await person(host, surface)
    expect(comesTo(await login(host, surface, who, home))).toBe('authenticated')
    expect(comesTo(await login(host, surface, who, elsewhere))).toBe('authenticated')
    const wrong = await login(host, surface, { ...who, password: otherPassword }, home)
    expectProblem(wrong, 401, 'invalid_credentials')
  })

  it.each(failures)('a scorer that %s asks for all there is, and tells', async (_how, assess) => {
    let fails = false
    const riskScorer = {
      assess: async (): Promise<unknown> => (fails ? assess() : { level: 'low', signals: [] }),
    } as unknown as RiskScorer
    const host = await openHost({ ...trusting, riskScorer })
    const who = await trustingPerson(host, surface)
    fails = true
    const reply = await deviceLogin(host, surface, who, who.deviceToken, 'login')
    expect(comesTo(reply)).toBe('mfaRequired')
    const done = await finish(host, surface, textOf(reply.json(), 'mfaToken'), await who.nextCode())
    expect(comesTo(done)).toBe('authenticated')
    expect(eventsOf(host, 'login.newDevice').at(-1)?.signals).toEqual(['unassessed'])
    expect(await mailsTo(host, who)).toHaveLength(1)
    expect(host.logger.lines.map(({ message }) => message)).toContain('the risk scorer failed')
    expect(JSON.stringify(host.logger.lines)).not.toContain('canary')
  })

  it.each([
    ['is given two seconds', 2000, ['the risk scorer failed']],
    ['is heard if it answers just in time', 1999, []],
  ])('a scorer that is slow %s', async (_what, ms, said) => {
    const { promise: asking, resolve: began } = deferred<void>()
    const { promise: answer, resolve: say } = deferred<RiskAssessment>()
    const riskScorer: RiskScorer = {
      assess: () => {
        began()
        return answer
      },
    }
    const host = await openHost({ riskScorer })
    const pending = login(host, surface, await person(host, surface), home)
    await asking
    await host.clock.advance(ms)
    say({ level: 'high', signals: [] })
    expect(comesTo(await pending)).toBe('authenticated')
    const warned = host.logger.lines.filter(({ level }) => level === 'error')
    expect(warned.map(({ message }) => message)).toEqual(said)
  })

  it('what a scorer says beyond the list goes into no event', async () => {
    const signals = ['newDevice', 'ada@example.org'] as unknown as RiskAssessment['signals']
    const { riskScorer } = answering(async () => ({ level: 'elevated', signals }))
    const host = await openHost({ riskScorer })
    const who = await person(host, surface)
    await login(host, surface, who, home)
    await login(host, surface, who, home)
    expect(eventsOf(host, 'login.newDevice').map((event) => event.signals)).toEqual([['newDevice']])
  })

  it('a registration that signs in at once is no new device', async () => {
    const host = await openHost({ settings: { emailVerificationRequired: false } })
    const body = { email: 'ada@example.org', password: goodPassword }
    await host.send('POST', `/v1/auth/${surface}/register`, { body, headers: home })
    await host.auth.close()
    expect(host.mailer.sent).toEqual([])
  })
})
