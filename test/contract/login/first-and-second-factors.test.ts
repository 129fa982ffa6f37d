import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { MfaMethod } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, passwordLogin } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { person } from '../../support/people/people.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { type OauthHost, oauthHost } from '../oauth/oauth-host.js'
import { type FirstFactor, firstFactors, type Led, toldBy } from './first-factors.js'

/** What the log and the records say of how the session of an access token was opened. */
async function loggedOf(host: OauthHost, surface: Surface, bearer: string) {
  const { sid: sessionId, sub: targetId, amr } = decodeJwt(bearer)
  const event = eventsOf(host, 'login.succeeded').find((one) => one.sessionId === sessionId)
  await host.auth.close() // the record is written beside the reply
  const { auditRecords } = storedIn(host, surface)
  const records = await auditRecords.find({ targetId: String(targetId) }, { limit: 100 })
  const [record] = records.filter(
    (one) => one.action === 'login.succeeded' && one.sessionId === sessionId,
  )
  const { method, mfaMethod, deviceId } = event ?? {}
  expect(event).toMatchObject({ amr })
  expect(record?.details).toEqual({ method, mfaMethod, amr, deviceId })
  return { method, mfaMethod }
}

type Second = (host: OauthHost, surface: Surface, first: FirstFactor) => Promise<[Led, Reply]>

const finishing =
  (method: 'totp' | 'backupCode'): Second =>
  async (host, surface, first) => {
    const who = await enrolled(host, surface)
    const led = await first.show(host, surface, who)
    const code = method === 'totp' ? await who.nextCode() : who.backupCodes[0]
    const reply = await host.send('POST', `/v1/auth/${surface}/login/mfa`, {
      body: { mfaToken: led.mfaToken, method, code },
      ...(led.cookie === null ? {} : { cookie: led.cookie }),
    })
    return [led, reply]
  }

const seconds: Readonly<Record<MfaMethod, Second>> = {
  totp: finishing('totp'),
  backupCode: finishing('backupCode'),
  webauthn: async (host, surface, first) => {
    const who = await passkeyHolder(host, surface)
    const led = await first.show(host, surface, who)
    const cookie = led.cookie === null ? {} : { cookie: led.cookie }
    const send: typeof host.send = (method, path, given) =>
      host.send(method, path, { ...given, ...cookie })
    const reply = await passkeysOn({ send }, surface).login(
      who.authenticator,
      led.mfaToken ?? undefined,
    )
    return [led, reply]
  },
}

const rows = eachSurface.cells.flatMap((surface) =>
  Object.keys(firstFactors).map((name) => ({ surface, name })),
)

it.each(rows)(
  '$name opens a session alone, and half of one where there is a second factor [$surface]',
  async ({ surface, name }) => {
    const first = firstFactors[name]
    if (first === undefined) throw new Error('no such first factor')
    const host = await oauthHost(trusting)
    const alone = await first.show(host, surface, await person(host, surface))
    expect([alone.status, alone.mfaToken]).toEqual(['authenticated', null])
    expect(decodeJwt(alone.bearer ?? '')['amr']).not.toContain('mfa')
    const { method } = first
    const logged = await loggedOf(host, surface, alone.bearer ?? '')
    expect(logged).toEqual({ method, mfaMethod: null })
    for (const [mfaMethod, second] of Object.entries(seconds)) {
      const [led, reply] = await second(host, surface, first)
      expect([led.status, led.bearer]).toEqual(['mfaRequired', null])
      expect([reply.status, reply.json()['status']]).toEqual([200, 'authenticated'])
      const bearer = textOf(reply.json(), 'accessToken')
      expect(decodeJwt(bearer)['amr']).toContain('mfa')
      expect(await loggedOf(host, surface, bearer)).toEqual({ method, mfaMethod })
    }
  },
)

eachSurface.it(
  'a device that is trusted takes the place of the second factor, and of no other',
  async (surface) => {
    const host = await oauthHost(trusting)
    for (const door of ['login', 'mobile/login'] as const) {
      const who = await trustingPerson(host, surface, door)
      const led = toldBy(await deviceLogin(host, surface, who, who.deviceToken, door))
      expect([led.status, led.mfaToken]).toEqual(['authenticated', null])
      const none = toldBy(await passwordLogin(host, surface, who, door))
      expect([none.status, none.bearer]).toEqual(['mfaRequired', null])
      const wrong = { email: who.email, password: 'not the password' }
      const refused = await deviceLogin(host, surface, wrong, who.deviceToken, door)
      expect([refused.status, refused.code]).toEqual([401, 'invalid_credentials'])
    }
  },
)
