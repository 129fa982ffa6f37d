import { expect, it } from 'vitest'
import { fetchHandler } from '../../../adapters/fetch.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  codeOf,
  enrolled,
  enrolledByTicket,
  finish,
  passwordLogin,
  requireStepUp,
  ticketOf,
} from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
const minute = 60_000

/** A request whose body comes only when it is let go, long after its headers. */
function lateRequest(host: ContractHost, path: string, bearer: string, body: unknown) {
  let letGo = (): void => {}
  let begin = (): void => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const wanted = new Promise<void>((resolve) => {
    begin = resolve
  })
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        begin()
        await gate
        controller.enqueue(new TextEncoder().encode(JSON.stringify(body)))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const request = new Request(`http://127.0.0.1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: stream,
    duplex: 'half',
  })
  const replied = fetchHandler(host.auth.both)(request, { remoteAddress: '192.0.2.1' })
  return {
    wanted,
    /** The status it came to. */
    async finish(): Promise<number> {
      letGo()
      const reply = await replied
      if (reply === null) throw new Error(`${path} is not a route`)
      return reply.status
    },
  }
}

eachSurface.describe('factors that come too late', (surface) => {
  const authenticator = () => softwareAuthenticator({ origin: origins[surface] })
  const base = `/v1/auth/${surface}`

  /** Two logins that lack a factor; the other one gets one. */
  async function overtaken() {
    const host = await openHost({ settings: policy })
    const who = await person(host, surface)
    const login = async () => textOf((await passwordLogin(host, surface, who)).json(), 'mfaToken')
    return { host, who, on: passkeysOn(host, surface), mfaToken: await login(), other: login }
  }

  it('a password adds no passkey once the account has an app', async () => {
    const { host, who, on, mfaToken } = await overtaken()
    await enrolledByTicket(host, surface, who)
    expect(outcomeOf(await on.startRegistration({ mfaToken }))).toBe('401 mfa_ticket_invalid')
    expect(await storedIn(host, surface).passkeys.find({ userId: who.id }, { limit: 9 })).toEqual(
      [],
    )
  })

  it('a password adds no app once the account has a passkey', async () => {
    const { host, on, mfaToken, other } = await overtaken()
    const send = (path: string, body: object) => host.send('POST', `${base}${path}`, { body })
    const secret = textOf((await send('/mfa/totp', { mfaToken })).json(), 'secret')
    expect(outcomeOf(await on.register({ mfaToken: await other() }, authenticator()))).toBe('201')
    expect(outcomeOf(await send('/mfa/totp', { mfaToken }))).toBe('401 mfa_ticket_invalid')
    const code = codeOf(host, secret)
    const late = await send('/mfa/totp/confirm', { mfaToken, code })
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
  })

  it('who began an app before there was a factor confirms it only for minutes', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const body = { currentPassword: who.password }
    const begun = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
    const secret = textOf(begun.json(), 'secret')
    await host.clock.advance(10 * minute)
    const confirm = () =>
      host.send('POST', `${base}/mfa/totp/confirm`, {
        bearer,
        body: { code: codeOf(host, secret) },
      })
    expect(outcomeOf(await confirm())).toBe('401 invalid_mfa_code')
    await expect(requireStepUp(host, surface, bearer)).rejects.toThrow()
  })

  it('a passkey whose bytes come after the password was reset is none', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const begun = JSON.parse((await on.startRegistration(given)).text)
    const response = authenticator().create(begun.options)
    const body = { challengeId: begun.challengeId, response }
    const late = lateRequest(host, `${base}/webauthn/registration/verify`, who.bearer, body)
    await late.wanted
    const link = await linkFor(host, surface, who.email)
    expect((await reset(host, surface, link, 'a new long passphrase')).status).toBe(204)
    expect(await late.finish()).toBe(401)
    expect(await storedIn(host, surface).passkeys.get(response.id)).toBeNull()
  })

  it('an app whose code comes after the password was reset is none', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const { bearer } = who
    const begun = await host.send('POST', `${base}/mfa/totp`, {
      bearer,
      body: { currentPassword: who.password },
    })
    const body = { code: codeOf(host, textOf(begun.json(), 'secret')) }
    const late = lateRequest(host, `${base}/mfa/totp/confirm`, bearer, body)
    await late.wanted
    const link = await linkFor(host, surface, who.email)
    expect((await reset(host, surface, link, 'a new long passphrase')).status).toBe(204)
    expect(await late.finish()).toBe(401)
    expect((await storedIn(host, surface).totpFactors.get(who.id))?.confirmed).toBe(false)
  })

  it.each(['passkeys.insert', 'totp_factors.update'])(
    'the password was reset before %s: the factor is none',
    async (moment) => {
      const late: (() => Promise<void>)[] = []
      const host = await openHost({
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            if (called === `${surface}_${moment}`) await late.pop()?.()
            return work()
          }),
      })
      const who = await signedInPerson(host, surface)
      const { bearer } = who
      const on = passkeysOn(host, surface)
      const given = { bearer, currentPassword: who.password }
      const begun = JSON.parse((await on.startRegistration(given)).text)
      const response = authenticator().create(begun.options)
      const body = { currentPassword: who.password }
      const app = await host.send('POST', `${base}/mfa/totp`, { bearer, body })
      const code = codeOf(host, textOf(app.json(), 'secret'))
      const link = await linkFor(host, surface, who.email)
      late.push(async () => {
        expect((await reset(host, surface, link, 'a new long passphrase')).status).toBe(204)
      })
      const reply = await (moment === 'passkeys.insert'
        ? on.finishRegistration({ bearer }, begun.challengeId, response)
        : host.send('POST', `${base}/mfa/totp/confirm`, { bearer, body: { code } }))
      expect([late, reply.status >= 400]).toEqual([[], true])
      const stored = storedIn(host, surface)
      expect(await stored.passkeys.get(response.id)).toBeNull()
      expect((await stored.totpFactors.get(who.id))?.confirmed ?? false).toBe(false)
    },
  )

  it.each([
    ['DELETE', '/mfa/totp'],
    ['POST', '/mfa/backup-codes'],
  ] as const)(
    '%s %s of a session that the owner ends meanwhile changes nothing',
    async (method, path) => {
      const late: (() => Promise<unknown>)[] = []
      const host = await openHost({
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            if (called === `${surface}_users.update`) await late.pop()?.()
            return work()
          }),
      })
      const who = await enrolled(host, surface)
      const { bearer, id, email } = who
      const proof = { method: 'totp', code: await who.nextCode() }
      const proved = await host.send('POST', `${base}/step-up`, { bearer, body: proof })
      expect(outcomeOf(proved)).toBe('200')
      const { totpFactors, backupCodes, users } = storedIn(host, surface)
      const codes = await backupCodes.get(id)
      const link = await linkFor(host, surface, email)
      late.push(() => reset(host, surface, link, 'a new long passphrase'))
      const body = { endOtherSessions: true }
      const reply = await host.send(method, `${base}${path}`, { bearer, body })
      expect([late, outcomeOf(reply)]).toEqual([[], '401 session_revoked'])
      expect(await totpFactors.get(id)).toMatchObject({ confirmed: true, removingBy: null })
      expect(await backupCodes.get(id)).toEqual(codes)
      expect((await users.get(id))?.keptSessionId).toBeNull()
    },
  )

  it.each([
    ['DELETE', '/mfa/totp'],
    ['POST', '/mfa/backup-codes'],
  ] as const)(
    '%s %s with a proof that the owner voids meanwhile changes nothing',
    async (method, path) => {
      const late: (() => Promise<unknown>)[] = []
      const host = await openHost({
        ...withoutLimits,
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            if (called === `${surface}_users.update`) await late.pop()?.()
            return work()
          }),
      })
      const who = await enrolled(host, surface)
      const { bearer, id } = who
      const proof = { method: 'totp', code: await who.nextCode() }
      const proved = await host.send('POST', `${base}/step-up`, { bearer, body: proof })
      expect(outcomeOf(proved)).toBe('200')
      const mfaToken = await ticketOf(host, surface, who)
      const login = await finish(host, surface, mfaToken, await who.nextCode())
      const owner = textOf(login.json(), 'accessToken')
      const { totpFactors, backupCodes } = storedIn(host, surface)
      const made: unknown[] = []
      late.push(async () => {
        const codes = await host.send('POST', `${base}/mfa/backup-codes`, { bearer: owner })
        made.push(outcomeOf(codes), await backupCodes.get(id))
      })
      const reply = await host.send(method, `${base}${path}`, { bearer })
      expect([late, outcomeOf(reply)]).toEqual([[], '403 step_up_required'])
      expect(await totpFactors.get(id)).toMatchObject({ confirmed: true, removingBy: null })
      expect(['201', await backupCodes.get(id)]).toEqual(made)
    },
  )

  it('a half-finished login is no good once factors have changed', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const code = await who.nextCode()
    const body = { method: 'totp', code }
    const { bearer } = who
    expect((await host.send('POST', `${base}/step-up`, { bearer, body })).status).toBe(200)
    const held = await ticketOf(host, surface, who)
    expect((await host.send('POST', `${base}/mfa/backup-codes`, { bearer })).status).toBe(201)
    const late = await finish(host, surface, held, await who.nextCode())
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
  })
})
