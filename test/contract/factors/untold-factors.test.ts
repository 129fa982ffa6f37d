import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { EnrollmentNotice } from '../../../src/model/factors.js'
import type { User } from '../../../src/model/user.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHost,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { codeOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { otherPassword, type Person, signedInPerson } from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { mortalHost } from './mortal-host.js'

interface Begun {
  readonly who: Person & { readonly bearer: string }
  readonly finish: () => Promise<string>
  /** A login with the new factor alone, and what it came to. */
  readonly login?: () => Promise<string>
}

/** What the enrolment of a kind of factor ends with. */
const kinds: Readonly<
  Record<'totpEnrolled' | 'passkeyAdded', (host: ContractHost, surface: Surface) => Promise<Begun>>
> = {
  async totpEnrolled(host, surface) {
    const who = await signedInPerson(host, surface)
    const { bearer, password: currentPassword } = who
    const path = `/v1/auth/${surface}/mfa/totp`
    const begun = await host.send('POST', path, { bearer, body: { currentPassword } })
    const secret = textOf(begun.json(), 'secret')
    const finish = async () => {
      const body = { code: codeOf(host, secret) }
      return outcomeOf(await host.send('POST', `${path}/confirm`, { bearer, body }))
    }
    return { who, finish }
  },
  async passkeyAdded(host, surface) {
    const who = await signedInPerson(host, surface)
    const { bearer, password: currentPassword } = who
    const on = passkeysOn(host, surface)
    const begun = JSON.parse((await on.startRegistration({ bearer, currentPassword })).text)
    const authenticator = softwareAuthenticator({ origin: origins[surface] })
    const response = authenticator.create(begun.options)
    const { challengeId } = begun
    const finish = async () =>
      outcomeOf(await on.finishRegistration({ bearer }, challengeId, response))
    return { who, finish, login: async () => outcomeOf(await on.login(authenticator)) }
  },
}

async function factorsOf(host: ContractHost, surface: Surface, { id }: { readonly id: string }) {
  const { totpFactors, passkeys } = storedIn(host, surface)
  const app = await totpFactors.get(id)
  const keys = await passkeys.find({ userId: id }, { limit: 100 })
  return [...(app?.confirmed ? [app] : []), ...keys]
}

/** An enrolment whose request died at the first moment that left what is wanted. */
async function cutOff(
  surface: Surface,
  change: keyof typeof kinds,
  isWanted: (enrollmentId: string, account: User) => boolean,
) {
  const { host, diesAfter, isBack } = await mortalHost({ webauthnMode: 'passwordless' })
  for (let calls = 0; ; calls += 1) {
    assert.ok(calls < 100)
    const { who, finish, login } = await kinds[change](host, surface)
    await host.auth.close()
    diesAfter(calls)
    await finish()
    await host.auth.close()
    isBack()
    const [stored] = await factorsOf(host, surface, who)
    const account = await storedUser(host, surface, who.email)
    const { enrollmentId = null } = stored ?? {}
    if (enrollmentId !== null && isWanted(enrollmentId, account)) return { host, who, login }
  }
}

/** The factor is stored, and the account does not say so yet. */
const isUnsettled = (enrollmentId: string, { lastIntentId, settledEnrollmentId }: User) =>
  enrollmentId === lastIntentId && settledEnrollmentId === null
const isSettled = (enrollmentId: string) => enrollmentId.endsWith(' stored')
/** The account says that the enrolment is complete, and the factor does not yet. */
const isUnmarked = (enrollmentId: string, { settledEnrollmentId }: User) =>
  settledEnrollmentId === enrollmentId

/** What sets another `lastIntentId`, or begins another enrolment. */
const followUps = {
  async 'a mailed reset'(host: ContractHost, surface: Surface, { email }: Begun['who']) {
    const link = await linkFor(host, surface, email)
    expect((await reset(host, surface, link, otherPassword)).status).toBe(204)
  },
  async 'the proof of a mailbox'(host: ContractHost, surface: Surface, who: Begun['who']) {
    await unproved(host, surface, who)
    const { email, password: newPassword } = who
    const at = (path: string) => `/v1/auth/${surface}/email/verify${path}`
    await host.send('POST', at('/resend'), { body: { email } })
    const token = await mailedToken(host, 'verifyEmail', email)
    expect((await host.send('POST', at(''), { body: { token, newPassword } })).status).toBe(200)
  },
  async 'a reset that proves a mailbox'(host: ContractHost, surface: Surface, who: Begun['who']) {
    await unproved(host, surface, who)
    await this['a mailed reset'](host, surface, who)
  },
  async 'another passkey'(host: ContractHost, surface: Surface, who: Begun['who']) {
    const on = passkeysOn(host, surface)
    await proveIn(host, surface, who)
    const { bearer } = who
    const { challengeId, options } = JSON.parse((await on.startRegistration({ bearer })).text)
    const response = softwareAuthenticator({ origin: origins[surface] }).create(options)
    expect((await on.finishRegistration({ bearer }, challengeId, response)).status).toBe(201)
  },
  async 'another address'(host: ContractHost, surface: Surface, who: Begun['who']) {
    host.mailer.clear()
    await proveIn(host, surface, who)
    const { bearer } = who
    const newEmail = `new.${who.email}`
    const asked = await host.send('POST', `/v1/auth/${surface}/me/email`, {
      bearer,
      body: { newEmail },
    })
    expect(asked.status, asked.text).toBe(202)
    const token = await mailedToken(host, 'changeEmail', newEmail)
    const body = { token }
    const done = await host.send('POST', `/v1/auth/${surface}/email/verify`, { bearer, body })
    expect(done.status, done.text).toBe(200)
  },
}

/** Takes away what the attempts before left: the sweep then has this one to look at. */
async function withoutOthers(host: ContractHost, surface: Surface, { id }: Person) {
  const { totpFactors, passkeys } = storedIn(host, surface)
  for (const from of [totpFactors, passkeys]) {
    for (const due of await from.due(host.clock.now() + 60 * 60_000, 100)) {
      if (due.userId !== id) await from.take(due.id)
    }
  }
}

/** As your code leaves it that writes another address. */
async function unproved(host: ContractHost, surface: Surface, { email }: Begun['who']) {
  host.mailer.clear()
  const { id } = await storedUser(host, surface, email)
  await storedIn(host, surface).users.update(id, { enabled: true }, { emailVerifiedAt: null })
}

/** As a step-up leaves it. */
async function proveIn(host: ContractHost, surface: Surface, { email, bearer }: Begun['who']) {
  const { id: userId, deviceEpoch } = await storedUser(host, surface, email)
  const provedAt = host.clock.now()
  const id = textOf(decodeJwt(bearer), 'sid')
  const proof = { id, userId, deviceEpoch, provedAt, expiresAt: provedAt + 60_000 }
  await storedIn(host, surface).stepUpProofs.insert({ ...proof, method: 'totp' })
}

/** The account as a mailed reset leaves it. */
async function asAfterReset(host: ContractHost, surface: Surface, { email }: Person) {
  const { id, credentialEpoch } = await storedUser(host, surface, email)
  const set = { credentialEpoch: credentialEpoch + 1, lastIntentId: 'another intent' }
  await storedIn(host, surface).users.update(id, { credentialEpoch }, set)
}

/** A process that sweeps once, ten minutes from now. */
async function swept({ backend, clock }: ContractHost, surface: Surface, options: object = {}) {
  await clock.advance(10 * 60_000)
  const process = await testAuth({ backend, clock, sweeps: true, ...options })
  await clock.advance(10_000)
  const { totpFactors, passkeys } = storedIn({ backend }, surface)
  await expect
    .poll(async () => {
      await clock.advance(1000)
      const all = [totpFactors, passkeys] as const
      const due = await Promise.all(all.map((each) => each.due(clock.now(), 1)))
      return due.flat()
    })
    .toEqual([])
  await process.auth.close()
  return process
}

const mailsTo = (
  { mailer }: Pick<ContractHost, 'mailer'>,
  { email }: { readonly email: string },
): readonly unknown[] =>
  mailer.sent.filter(({ to, template }) => to === email && template === 'mfaChanged')

eachSurface.describe('a factor whose request dies', (surface) => {
  it.each(['totpEnrolled', 'passkeyAdded'] as const)(
    'wherever it dies: %s is told of by the next sweep, and voids what was before',
    async (change) => {
      const { host, diesAfter, isBack } = await mortalHost()
      let untold = 0
      for (let calls = 0; ; calls += 1) {
        assert.ok(calls < 100)
        const { who, finish } = await kinds[change](host, surface)
        const before = await storedUser(host, surface, who.email)
        await host.auth.close()
        diesAfter(calls)
        const outcome = await finish()
        await host.auth.close()
        isBack()
        if (/^20[01]$/.test(outcome)) break
        const stands = (await factorsOf(host, surface, who)).length > 0
        const early = mailsTo(host, who).length
        // Not while the request may still be under way.
        const { totpFactors, passkeys } = storedIn(host, surface)
        const soon = host.clock.now() + 9 * 60_000
        const due = await Promise.all([totpFactors.due(soon, 100), passkeys.due(soon, 100)])
        expect(due.flat().filter(({ userId }) => userId === who.id)).toEqual([])
        const process = await swept(host, surface)
        const after = await storedUser(host, surface, who.email)
        const mails = [...mailsTo(host, who), ...mailsTo(process, who)]
        if (stands && early === 0) untold += 1
        expect([calls, mails.length > 0]).toEqual([calls, stands])
        if (!stands) continue
        expect([calls, after.deviceEpoch]).toEqual([calls, before.deviceEpoch + 2])
        const [factor] = await factorsOf(host, surface, who)
        expect(factor).toMatchObject({ expiresAt: null, enrollmentId: null })
        if (early > 0) continue
        const events = eventsOf(process, 'mfa.changed')
        expect(events).toMatchObject([{ userId: who.id, change, actorId: who.id }])
      }
      expect(untold).toBeGreaterThan(0)
    },
    60_000,
  )

  it('is told of once where the request goes well, and costs the sweep nothing', async () => {
    const host = await openHost()
    const { who, finish } = await kinds.passkeyAdded(host, surface)
    expect(await finish()).toBe('201')
    await host.auth.close()
    const [factor] = await factorsOf(host, surface, who)
    expect(factor).toMatchObject({ expiresAt: null, enrollmentId: null })
    expect(mailsTo(await swept(host, surface), who)).toEqual([])
    expect(mailsTo(host, who)).toHaveLength(1)
  })

  it('is told of once by a mailer that never answers', async () => {
    const unanswered: (() => void)[] = []
    const mailer = { send: () => new Promise<void>((resolve) => unanswered.push(resolve)) }
    const host = await openHost({ mailer })
    const { who, finish } = await kinds.passkeyAdded(host, surface)
    expect(await finish()).toBe('201')
    await expect.poll(() => unanswered).toHaveLength(1)
    await host.clock.advance(9 * 60_000)
    const noticeOf = async () => (await factorsOf(host, surface, who))[0]?.enrollmentId
    await expect.poll(noticeOf).toBeNull()
    const process = await swept(host, surface)
    expect([unanswered.length, mailsTo(process, who)]).toEqual([1, []])
    for (const answer of unanswered) answer()
  })

  it('is taken away by the sweep where a reset came between', async () => {
    const { host, who } = await cutOff(surface, 'passkeyAdded', isUnsettled)
    // As if the reset had raised the epoch after the claim, and looked before the factor was stored.
    const { users } = storedIn(host, surface)
    const { id, deviceEpoch } = await storedUser(host, surface, who.email)
    await users.update(id, { deviceEpoch }, { deviceEpoch: deviceEpoch + 2 })
    const process = await swept(host, surface)
    expect(await factorsOf(host, surface, who)).toEqual([])
    expect(mailsTo(process, who)).toEqual([])
  })

  it.each(['totpEnrolled', 'passkeyAdded'] as const)(
    'is taken away by the sweep where a link of a mail made a new password since: %s',
    async (change) => {
      const { host, who } = await cutOff(surface, change, isUnsettled)
      const link = await linkFor(host, surface, who.email)
      expect((await reset(host, surface, link, otherPassword)).status).toBe(204)
      const process = await swept(host, surface)
      expect(await factorsOf(host, surface, who)).toEqual([])
      expect(mailsTo(process, who)).toEqual([])
    },
  )

  it('signs nobody in where a link of a mail made a new password since, also before the sweep', async () => {
    const { host, who, login } = await cutOff(surface, 'passkeyAdded', isUnsettled)
    expect(await login?.()).toBe('200')
    const link = await linkFor(host, surface, who.email)
    expect((await reset(host, surface, link, otherPassword)).status).toBe(204)
    expect(await login?.()).toBe('401 invalid_credentials')
  })

  it('signs nobody in where all sessions were ended since, also after another factor was added', async () => {
    const { host, who, login } = await cutOff(surface, 'passkeyAdded', isUnsettled)
    await host.auth[surface].terminateSessionsOf(who.id)
    expect(await login?.()).toBe('401 invalid_credentials')
    // As another enrolment leaves the account.
    const { id, deviceEpoch } = await storedUser(host, surface, who.email)
    const another = { lastIntentId: 'another', settledEnrollmentId: 'another' }
    const set = { deviceEpoch: deviceEpoch + 2, ...another }
    await storedIn(host, surface).users.update(id, { deviceEpoch }, set)
    expect(await login?.()).toBe('401 invalid_credentials')
    await swept(host, surface)
    expect(await factorsOf(host, surface, who)).toEqual([])
  })

  it('signs its owner in after a mailed reset where it stood before', async () => {
    const { host, who, login } = await cutOff(surface, 'passkeyAdded', isSettled)
    await asAfterReset(host, surface, who)
    expect(await login?.()).toBe('200')
  })

  it.each(['totpEnrolled', 'passkeyAdded'] as const)(
    'stays where it stood before a mailed reset, and is told of: %s',
    async (change) => {
      const { host, who } = await cutOff(surface, change, isSettled)
      await asAfterReset(host, surface, who)
      const process = await swept(host, surface)
      expect(await factorsOf(host, surface, who)).toHaveLength(1)
      expect(mailsTo(process, who)).toHaveLength(1)
    },
  )

  it.each([
    ['totpEnrolled', 'a mailed reset'],
    ['passkeyAdded', 'a mailed reset'],
    ['totpEnrolled', 'another passkey'],
    ['passkeyAdded', 'another passkey'],
    ['totpEnrolled', 'the proof of a mailbox'],
    ['passkeyAdded', 'the proof of a mailbox'],
    ['totpEnrolled', 'a reset that proves a mailbox'],
    ['passkeyAdded', 'a reset that proves a mailbox'],
    ['totpEnrolled', 'another address'],
    ['passkeyAdded', 'another address'],
  ] as const)(
    'stays where its request died before the factor said that it stands: %s, then %s',
    async (change, then) => {
      const { host, who } = await cutOff(surface, change, isUnmarked)
      const [stored] = await factorsOf(host, surface, who)
      await followUps[then](host, surface, who)
      await swept(host, surface)
      const left = await factorsOf(host, surface, who)
      expect(left.map(({ id }) => id)).toContain(stored?.id)
      expect(left.map(({ enrollmentId }) => enrollmentId)).not.toContain(stored?.enrollmentId)
    },
  )

  it.each([
    ['a mailed reset', 'totpEnrolled', 'before'],
    ['a mailed reset', 'totpEnrolled', 'after'],
    ['a mailed reset', 'passkeyAdded', 'before'],
    ['a mailed reset', 'passkeyAdded', 'after'],
    ['another passkey', 'totpEnrolled', 'before'],
    ['another passkey', 'passkeyAdded', 'before'],
  ] as const)(
    'stays where %s comes between the look of the sweep and its write: %s, %s it',
    async (what, change, when) => {
      const { host, who } = await cutOff(surface, change, isUnmarked)
      const table = change === 'totpEnrolled' ? 'totp_factors' : 'passkeys'
      await withoutOthers(host, surface, who)
      const [stored] = await factorsOf(host, surface, who)
      const steps: string[] = []
      const once = async (moment: string) => {
        if (moment !== when || steps.length > 0) return
        steps.push('begun')
        await followUps[what](host, surface, who)
        steps.push('done')
      }
      const backend = withCall(host.backend, async (name, work) => {
        const isMove = name === `${surface}_${table}.update`
        if (isMove) await once('before')
        const result = await work()
        if (isMove) await once('after')
        return result
      })
      await host.clock.advance(10 * 60_000)
      const process = await testAuth({ backend, clock: host.clock, sweeps: true })
      await host.clock.advance(10_000)
      await expect.poll(() => steps, { timeout: 20_000 }).toEqual(['begun', 'done'])
      await process.auth.close()
      await host.clock.advance(30 * 60_000)
      await swept(host, surface)
      const left = await factorsOf(host, surface, who)
      expect(left.find(({ id }) => id === stored?.id)).toMatchObject({ enrollmentId: null })
    },
  )

  it('stays where a sweep that died settled it before a mailed reset', async () => {
    const { host, who } = await cutOff(surface, 'passkeyAdded', isUnsettled)
    let isDead = false
    const mailer = {
      async send() {
        isDead = true
      },
    }
    const backend = withCall(host.backend, async (_name, work) => {
      if (isDead) throw new Error('dead')
      return work()
    })
    await swept(host, surface, { mailer, backend })
    await asAfterReset(host, surface, who)
    await host.clock.advance(60 * 60_000)
    const process = await swept(host, surface)
    const left = await factorsOf(host, surface, who)
    expect([isDead, left.length, mailsTo(process, who).length]).toEqual([true, 1, 1])
  })

  it.each([
    ['totpEnrolled', 'totp_factors', true],
    ['totpEnrolled', 'totp_factors', false],
    ['passkeyAdded', 'passkeys', true],
    ['passkeyAdded', 'passkeys', false],
  ] as const)(
    'is taken away by the sweep only while it is the one that was looked at: %s in %s, replaced: %s',
    async (change, table, isReplaced) => {
      const host = await openHost()
      const { who, finish } = await kinds[change](host, surface)
      expect(await finish()).toMatch(/^20[01]$/)
      await host.auth.close()
      const { users, totpFactors, passkeys } = storedIn(host, surface)
      const [stored] = await factorsOf(host, surface, who)
      const own = change === 'totpEnrolled' ? totpFactors : passkeys
      const set = (to: EnrollmentNotice) => own.update(stored?.id ?? '', { userId: who.id }, to)
      await set({ expiresAt: host.clock.now(), enrollmentId: 'void' })
      const { id, deviceEpoch } = await storedUser(host, surface, who.email)
      await users.update(
        id,
        { deviceEpoch },
        { lastIntentId: 'void', deviceEpoch: deviceEpoch + 2 },
      )
      // The owner removes it and adds another one, just before the sweep takes it.
      const backend = withCall(host.backend, async (name, work) => {
        if (isReplaced && name === `${surface}_${table}.take`) {
          await set({ expiresAt: null, enrollmentId: null })
        }
        return work()
      })
      await swept(host, surface, { backend })
      expect(await factorsOf(host, surface, who)).toHaveLength(isReplaced ? 1 : 0)
    },
  )

  it('is tried again while the process that tells dies as well', async () => {
    const host = await openHost()
    const { who, finish } = await kinds.totpEnrolled(host, surface)
    expect(await finish()).toBe('200')
    await host.auth.close()
    host.mailer.clear()
    const { totpFactors } = storedIn(host, surface)
    // As a request leaves it that died once the factor stood.
    const { settledEnrollmentId: enrollmentId } = await storedUser(host, surface, who.email)
    const due = { expiresAt: host.clock.now(), enrollmentId }
    await totpFactors.update(who.id, { confirmed: true }, due)
    // It dies once the mailer has the mail.
    let isDead = false
    const mailer = {
      async send() {
        isDead = true
      },
    }
    const backend = withCall(host.backend, async (_name, work) => {
      if (isDead) throw new Error('dead')
      return work()
    })
    await swept(host, surface, { mailer, backend })
    expect(isDead).toBe(true)
    expect((await totpFactors.get(who.id))?.expiresAt).toBeGreaterThan(host.clock.now())
    await host.clock.advance(60 * 60_000)
    expect(mailsTo(await swept(host, surface), who)).toHaveLength(1)
    expect((await totpFactors.get(who.id))?.expiresAt).toBeNull()
  })
})
