import { codeMethod } from '../../../src/engine/accounts.js'
import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { storedIn, storedUser } from '../../support/hosts/open-host.js'
import { passwordLogin } from '../../support/people/authenticator.js'
import type { Person } from '../../support/people/people.js'
import { memberOf, type OauthHost, waitingOf } from '../oauth/oauth-host.js'
import { askForCode, inApp, keptOf, showCode } from './mailed-code-steps.js'

/** What a first factor led to: a session, a ticket that only its browser may use, or a refusal. */
export interface Led {
  /** The status of a login, or the code of what it was refused with. */
  readonly status: string
  readonly mfaToken: string | null
  readonly cookie: string | null
  /** The access token, where there is one. */
  readonly bearer: string | null
}

export interface FirstFactor {
  /** The `method` of its events. */
  readonly method: string
  readonly show: (host: OauthHost, surface: Surface, who: Person) => Promise<Led>
}

const member = (body: Record<string, unknown>, name: string): string | null =>
  body[name] === undefined ? null : textOf(body, name)

const nothing = { mfaToken: null, cookie: null, bearer: null }

/** What an app, or a page that logs in by a request of its own, is told. */
export function toldBy(reply: Reply): Led {
  if (reply.status !== 200) return { status: String(reply.code), ...nothing }
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
  const refusal = memberOf(reply, 'error')
  if (refusal !== '') return { status: refusal, ...nothing }
  if (!reply.setCookies.some((one) => /_refresh=/.test(one))) {
    return { status: memberOf(reply, 'status'), ...waitingOf(reply), bearer: null }
  }
  const cookie = refreshCookieOf(reply, surface)
  const session = await host.send('GET', `/v1/auth/${surface}/session`, { cookie })
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

const byProvider = (provider: ProviderId): FirstFactor => ({
  method: provider,
  async show(host, surface, who) {
    const account = await linkedAccount(host, surface, provider, who)
    return cameBack(host, surface, await host.signIn(surface, provider, account))
  },
})

/** Whoever gets no mail guesses. */
async function codeFor(host: OauthHost, surface: Surface, { email }: Person, options = {}) {
  const kept = keptOf(await askForCode(host, surface, email, options))
  await host.auth.close() // mail is sent beside the request
  const mails = host.mailer.sent.filter(
    ({ template, to }) => template === 'loginCode' && to === email,
  )
  return {
    ...kept,
    code: mails.length === 0 ? '00000000' : host.mailer.last('loginCode', email).data.code,
  }
}

/** Every first factor that is no passkey: a passkey shows both at once. */
export const firstFactors: Readonly<Record<string, FirstFactor>> = {
  'a password': {
    method: 'password',
    show: async (host, surface, who) => toldBy(await passwordLogin(host, surface, who)),
  },
  'a password in an app': {
    method: 'password',
    show: async (host, surface, who) =>
      toldBy(await passwordLogin(host, surface, who, 'mobile/login')),
  },
  google: byProvider('google'),
  microsoft: byProvider('microsoft'),
  apple: byProvider('apple'),
  github: byProvider('github'),
  'google in an app': {
    method: 'google',
    async show(host, surface, who) {
      const account = await linkedAccount(host, surface, 'google', who)
      const url = await host.departFromApp(surface, 'google')
      const back = await host.comeBack(surface, 'google', host.stub.agree(url, account))
      const refusal = memberOf(back, 'error')
      if (refusal !== '') return { status: refusal, ...nothing }
      return toldBy(await host.exchange(surface, memberOf(back, 'code')))
    },
  },
  'a mailed code': {
    method: codeMethod,
    async show(host, surface, who) {
      const { code, cookie } = await codeFor(host, surface, who)
      return toldBy(await showCode(host, surface, code, { cookie }))
    },
  },
  'a mailed code in an app': {
    method: codeMethod,
    async show(host, surface, who) {
      const { code, codeKey } = await codeFor(host, surface, who, inApp)
      const path = `/v1/auth/${surface}/login/code/verify`
      return toldBy(await host.send('POST', path, { ...inApp, body: { code, codeKey } }))
    },
  },
}
