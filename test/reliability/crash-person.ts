import type { Reply } from '../support/hosts/http-client.js'
import { type Grant, grantOf, type Host, outcomeOf } from './host-client.js'

/** Hosts of which any may be killed at any moment; gives one that was well when last seen. */
export type AnyHost = () => Promise<Host>

/** Somebody who goes through every flow, asking again whenever no reply came. */
export interface CrashPerson {
  readonly email: string
  /** How often no reply came. */
  readonly lost: () => number
  /** From nobody to a signed-in user with a confirmed address. */
  arrive(): Promise<void>
  /** Every flow there is for who is signed in; ends signed in. */
  live(): Promise<void>
  /** Deletes the account of somebody who is signed in, on hosts that answer. */
  leave(): Promise<void>
  /** Refresh tokens that replies handed out for the session it is in. */
  readonly refreshTokens: () => readonly string[]
}

/** Something a client may not meet: the test fails with it. */
class Stuck extends Error {
  override readonly name = 'Stuck'
}

interface Answered {
  readonly reply: Reply
  /** How many requests before it got no reply. */
  readonly lost: number
}

const mostTries = 12

let people = 0
let visits = 0

export function crashPerson(anyHost: AnyHost): CrashPerson {
  people += 1
  const email = `crash-${process.pid}-${people}@example.org`
  let passwords = 0
  let password = newPassword()
  let grant: Grant | null = null
  let tokens: string[] = []
  let lost = 0

  function newPassword(): string {
    passwords += 1
    return `the passphrase ${people} of number ${passwords}`
  }

  /** Asks one host after the other until one has answered. */
  async function untilAnswered<T>(ask: (host: Host) => Promise<T>): Promise<[T, number]> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const host = await anyHost()
      try {
        return [await ask(host), tries]
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error
        lost += 1
      }
    }
    throw new Stuck(`${email}: no host answers`)
  }

  async function send(
    method: string,
    path: string,
    given: { body?: unknown; bearer?: string; cookie?: string } = {},
  ): Promise<Answered> {
    visits += 1
    // No limit per address is to be met.
    const from = `10.${(visits >> 16) & 255}.${(visits >> 8) & 255}.${visits & 255}`
    const [reply, before] = await untilAnswered((host) =>
      host.send(method, `/v1/auth/client${path}`, { ...given, from }),
    )
    return { reply, lost: before }
  }

  async function expectAnswer(allowed: RegExp, ...request: Parameters<typeof send>) {
    const answered = await send(...request)
    const outcome = outcomeOf(answered.reply)
    if (!allowed.test(outcome)) {
      throw new Stuck(`${email}: ${request[1]} answered ${outcome} (${answered.lost} unanswered)`)
    }
    return answered
  }

  /** The token of a link that was asked for and mailed by the same host. */
  async function linkBy(path: string): Promise<{ template: string; token: string }> {
    const [mailed] = await untilAnswered(async (host) => {
      await host.control('forgetMail', { email })
      const reply = await host.send('POST', `/v1/auth/client${path}`, { body: { email } })
      if (reply.status !== 202) throw new Stuck(`${email}: ${path} answered ${outcomeOf(reply)}`)
      return host.control('mailed', { email })
    })
    return mailed
  }

  function keep(next: Grant): void {
    grant = next
    tokens.push(next.refreshToken)
  }

  const held = (): Grant => {
    if (grant === null) throw new Stuck(`${email} is not signed in`)
    return grant
  }

  const cookie = (): string => `__Host-cl_refresh=${held().refreshToken}`

  async function login(allowed = /^200/): Promise<string> {
    const body = { email, password }
    const { reply } = await expectAnswer(allowed, 'POST', '/login', { body })
    if (reply.status === 200) {
      tokens = []
      keep(grantOf(reply))
    }
    return outcomeOf(reply)
  }

  async function refresh(): Promise<void> {
    const { reply } = await expectAnswer(/^200/, 'POST', '/refresh-cookie', { cookie: cookie() })
    keep(grantOf(reply))
  }

  /** After a change of the password a token is good once: a reply that was lost is not made up for. */
  async function refreshOnce(): Promise<void> {
    const replay = /^(200.*|401 (refresh_token_reused|session_revoked))$/
    const { reply, lost: before } = await expectAnswer(replay, 'POST', '/refresh-cookie', {
      cookie: cookie(),
    })
    if (reply.status === 200) keep(grantOf(reply))
    else if (before > 0) await login()
    else throw new Stuck(`${email}: a token that was not used is replay`)
  }

  /** Asked again after a lost reply, a spent link says so; whether it did its work shows elsewhere. */
  async function reset(token: string): Promise<void> {
    password = newPassword()
    const body = { token, newPassword: password }
    const { reply, lost: before } = await expectAnswer(
      /^(204|400 invalid_token)$/,
      'POST',
      '/password/reset',
      { body },
    )
    if (reply.status !== 204 && before === 0) {
      throw new Stuck(`${email}: a link that nobody used is spent`)
    }
  }

  async function changePassword(): Promise<void> {
    const { accessToken } = held()
    const currentPassword = password
    password = newPassword()
    await expectAnswer(/^204$/, 'POST', '/me/password', {
      body: { currentPassword, newPassword: password },
      bearer: accessToken,
    })
    await refreshOnce()
  }

  async function logout(): Promise<void> {
    const { accessToken } = held()
    const last = { cookie: cookie() }
    await expectAnswer(/^204$/, 'POST', '/logout', { bearer: accessToken })
    await expectAnswer(/^401 session_revoked$/, 'GET', '/me', { bearer: accessToken })
    await expectAnswer(/^401 session_revoked$/, 'POST', '/refresh-cookie', last)
    grant = null
    tokens = []
  }

  return {
    email,
    lost: () => lost,
    refreshTokens: () => tokens,

    async arrive() {
      await expectAnswer(/^201$/, 'POST', '/register', { body: { email, password } })
      for (let tries = 0; tries < mostTries; tries += 1) {
        // Whatever became of the first mail.
        const { token } = await linkBy('/email/verify/resend')
        await expectAnswer(/^(200|400 invalid_token)$/, 'POST', '/email/verify', {
          body: { token, newPassword: password },
        })
        const outcome = await login(/^(200|40[13] (email_not_verified|invalid_credentials))$/)
        if (outcome === '200') return
      }
      throw new Stuck(`${email} never gets in`)
    },

    async live() {
      await refresh()
      await expectAnswer(/^200/, 'GET', '/session', {
        cookie: cookie(),
      })
      await changePassword()
      await refresh()
      await logout()
      await login()
      const { accessToken } = held()
      await reset((await linkBy('/password/forgot')).token)
      await expectAnswer(/^401 session_revoked$/, 'GET', '/me', { bearer: accessToken })
      await login()
    },

    async leave() {
      const { accessToken: bearer } = held()
      await expectAnswer(/^204$/, 'DELETE', '/me', { body: { currentPassword: password }, bearer })
      await expectAnswer(/^401 session_revoked$/, 'GET', '/me', { bearer })
    },
  }
}
