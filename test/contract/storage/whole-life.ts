import assert from 'node:assert/strict'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, type Send, textOf } from '../../support/hosts/http-client.js'
import { registrationCookieOf } from '../../support/people/registration-steps.js'
import type { Secrets } from '../../support/stores/secrets.js'

export const passwords = {
  first: 'canary in the first coal mine',
  second: 'canary in the second coal mine',
  third: 'canary in the third coal mine',
  wrong: 'canary that never was in a mine',
}

export interface WholeLife {
  readonly email: string
  readonly replies: readonly Reply[]
  /** The claims of every access and refresh token that was handed out. */
  readonly claims: readonly Record<string, unknown>[]
}

/**
 * All that one person does on a surface, from registration to sign-out everywhere, mistakes and a
 * theft included. Every secret met on the way goes into `secrets`; `after` runs after every request.
 */
export async function wholeLife(
  host: ContractHost,
  surface: Surface,
  secrets: Secrets,
  after: () => Promise<void> = async () => {},
): Promise<WholeLife> {
  const replies: Reply[] = []
  const email = `canary-${surface}@example.org`
  const { first, second, third, wrong } = passwords
  secrets.keep(...Object.values(passwords))
  const send: Send = async (method, path, options) => {
    const reply = await host.send(method, `/v1/auth/${surface}${path}`, options)
    replies.push(reply)
    secrets.keepTokensOf(reply)
    await host.auth.close() // mail and records are written beside the request
    for (const mail of host.mailer.sent) {
      if (!('token' in mail.data)) continue
      secrets.keep(mail.data.token, mail.data.token.slice(mail.data.token.lastIndexOf('.') + 1))
    }
    await after()
    return reply
  }
  const expecting = async (status: number, ...request: Parameters<Send>): Promise<Reply> => {
    const reply = await send(...request)
    assert.equal(reply.status, status, `${request[0]} ${request[1]}: ${reply.text}`)
    return reply
  }
  const mailed = (template: 'verifyEmail' | 'resetPassword') =>
    host.mailer.last(template, email).data.token

  const account = { email, password: first, name: 'Canary' }
  const begun = await expecting(201, 'POST', '/register', { body: account })
  const registered = registrationCookieOf(begun) ?? ''
  secrets.keep(registered.slice(registered.indexOf('=') + 1))
  await expecting(422, 'POST', '/register', {
    body: { email: 'x@example.org', password: 'canary' },
  })
  const tooEarly = { body: { email, password: first }, cookie: registered }
  await expecting(403, 'POST', '/login', tooEarly)
  await expecting(202, 'POST', '/email/verify/resend', { body: { email } })
  const verification = mailed('verifyEmail')
  const confirmation = { body: { token: verification }, cookie: registered }
  await expecting(200, 'POST', '/email/verify', confirmation)
  await expecting(200, 'POST', '/email/verify', confirmation)
  await expecting(201, 'POST', '/register', { body: { ...account, password: second } })

  await expecting(401, 'POST', '/login', { body: { email, password: wrong } })
  const mobile = await expecting(200, 'POST', '/mobile/login', { body: { email, password: first } })
  const stolen = textOf(mobile.json(), 'refreshToken')
  const next = await expecting(200, 'POST', '/refresh', { body: { refreshToken: stolen } })
  const refreshToken = textOf(next.json(), 'refreshToken')
  await expecting(200, 'POST', '/refresh', { body: { refreshToken } })
  await expecting(401, 'POST', '/refresh', { body: { refreshToken: stolen } })

  const login = await expecting(200, 'POST', '/login', { body: { email, password: first } })
  const bearer = textOf(login.json(), 'accessToken')
  const cookie = refreshCookieOf(login, surface)
  const rotated = await expecting(200, 'POST', '/refresh-cookie', { cookie })
  await expecting(200, 'GET', '/session', { cookie: refreshCookieOf(rotated, surface) })
  await expecting(200, 'PATCH', '/me', { bearer, body: { name: 'Canary the Second' } })
  const change = { currentPassword: wrong, newPassword: second }
  await expecting(401, 'POST', '/me/password', { bearer, body: change })
  const changed = { ...change, currentPassword: first }
  await expecting(204, 'POST', '/me/password', { bearer, body: changed })

  await expecting(202, 'POST', '/password/forgot', { body: { email } })
  const reset = mailed('resetPassword')
  await expecting(400, 'POST', '/password/reset', {
    body: { token: `${reset}x`, newPassword: third },
  })
  await expecting(422, 'POST', '/password/reset', { body: { token: reset, newPassword: 'canary' } })
  await expecting(204, 'POST', '/password/reset', { body: { token: reset, newPassword: third } })
  await expecting(400, 'POST', '/password/reset', { body: { token: reset, newPassword: third } })
  await expecting(401, 'GET', '/me', { bearer })

  await expecting(202, 'POST', '/password/forgot', { body: { email } })
  const mover = await expecting(200, 'POST', '/login', { body: { email, password: third } })
  const body = { newEmail: `moved-${email}`, currentPassword: third }
  await expecting(202, 'POST', '/me/email', { bearer: textOf(mover.json(), 'accessToken'), body })
  const moving = host.mailer.last('changeEmail', body.newEmail).data.token
  await expecting(400, 'POST', '/email/verify', { body: { token: `${moving}x` } })
  const again = await expecting(200, 'POST', '/login', { body: { email, password: third } })
  const live = refreshCookieOf(again, surface)
  await expecting(204, 'POST', '/logout', { cookie: live, body: { everywhere: true } })
  await expecting(401, 'POST', '/refresh-cookie', { cookie: live })
  return { email, replies, claims: claimsIn(secrets.values) }
}

function claimsIn(values: readonly string[]): readonly Record<string, unknown>[] {
  return values.flatMap((value) => {
    const [, payload, signature] = value.split('.')
    if (payload === undefined || signature === undefined) return []
    return [JSON.parse(Buffer.from(payload, 'base64url').toString())]
  })
}
