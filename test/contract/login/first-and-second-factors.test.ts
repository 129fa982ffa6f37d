import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { type ProviderId, providerIds } from '../../../src/identity-providers/providers.js'
import type { MfaMethod } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { enrolled, passwordLogin } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, person } from '../../support/people/people.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { memberOf, type OauthHost, oauthHost, waitingOf } from '../oauth/oauth-host.js'

/** What a first factor led to: a session, or a ticket that only its browser may use. */
interface Led {
  readonly status: string
  readonly mfaToken: string | null
  readonly cookie: string | null
  /** The access token, where there is one. */
  readonly bearer: string | null
}

type First = (host: OauthHost, surface: Surface, who: Person) => Promise<Led>

const member = (body: Record<string, unknown>, name: string): string | null =>
  body[name] === undefined ? null : textOf(body, name)

/** What an app, or a page that logs in by a password, is told. */
function toldBy(reply: Reply): Led {
  expect(reply.status, reply.text).toBe(200)
  const body = reply.json()
  return {
    status: textOf(body, 'status'),
    mfaToken: member(body, 'mfaToken'),
    cookie: null,
    bearer: member(body, 'accessToken'),
  }
}

/** What a page is told behind a redirect. */
async function cameBack(host: ContractHost, surface: Surface, reply: Reply): Promise<Led> {
  if (!reply.setCookies.some((one) => /_refresh=/.test(one))) {
    return { status: memberOf(reply, 'status'), ...waitingOf(reply), bearer: null }
  }
  const cookie = refreshCookieOf(reply, surface)
  const session = await host.send('GET', `/v1/auth/${surface}/session`, { cookie })
  expect(session.status, session.text).toBe(200)
  const bearer = textOf(session.json(), 'accessToken')
  return { status: 'authenticated', mfaToken: null, cookie, bearer }
}

let accounts = 0

/** An account at the provider that is linked to this person. */
async function linkedAccount(host: OauthHost, surface: Surface, provider: ProviderId, who: Person) {
  accounts += 1
  const email = `linked-${accounts}@example.org`
  const account = { subject: String(9000 + accounts), email, verified: true }
  await host.signIn(surface, provider, account)
  const { id: userId } = await storedUser(host, surface, email)
  const { oauthIdentities } = storedIn(host, surface)
  const [identity] = await oauthIdentities.find({ userId }, { limit: 1 })
  await oauthIdentities.update(identity?.id ?? '', { userId }, { userId: who.id })
  return account
}

const byProvider =
  (provider: ProviderId): First =>
  async (host, surface, who) => {
    const account = await linkedAccount(host, surface, provider, who)
    return cameBack(host, surface, await host.signIn(surface, provider, account))
  }

const firsts: Readonly<Record<string, First>> = {
  'a password': async (host, surface, who) => toldBy(await passwordLogin(host, surface, who)),
  'a password in an app': async (host, surface, who) =>
    toldBy(await passwordLogin(host, surface, who, 'mobile/login')),
  google: byProvider('google'),
  microsoft: byProvider('microsoft'),
  apple: byProvider('apple'),
  github: byProvider('github'),
  'google in an app': async (host, surface, who) => {
    const account = await linkedAccount(host, surface, 'google', who)
    return toldBy(await host.signInApp(surface, 'google', account))
  },
}

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

type Second = (host: OauthHost, surface: Surface, first: First) => Promise<[Led, Reply]>

const finishing =
  (method: 'totp' | 'backupCode'): Second =>
  async (host, surface, first) => {
    const who = await enrolled(host, surface)
    const led = await first(host, surface, who)
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
    const led = await first(host, surface, who)
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
  Object.keys(firsts).map((name) => ({ surface, name })),
)

it.each(rows)(
  '$name opens a session alone, and half of one where there is a second factor [$surface]',
  async ({ surface, name }) => {
    const first = firsts[name]
    if (first === undefined) throw new Error('no such first factor')
    const host = await oauthHost(trusting)
    const alone = await first(host, surface, await person(host, surface))
    expect([alone.status, alone.mfaToken]).toEqual(['authenticated', null])
    expect(decodeJwt(alone.bearer ?? '')['amr']).not.toContain('mfa')
    const method = providerIds.find((id) => name.startsWith(id)) ?? 'password'
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
