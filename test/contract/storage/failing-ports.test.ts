import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { AuthError } from '../../../src/errors/index.js'
import type { Logger } from '../../../src/ports/host.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { mailedToken, openHost } from '../../support/hosts/open-host.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  refreshByCookie,
  type SignedIn,
  signedInPerson,
} from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import { memberOf, oauthOptions, oauthSteps } from '../oauth/oauth-host.js'

const secret = 'postgres://auth:hunter2@db.internal'

/** What an adapter's author may come up with, none of it an answer. */
const tantrums: readonly { readonly how: string; readonly fail: () => never | Promise<never> }[] = [
  {
    how: 'throws before it promises',
    fail: () => {
      throw new Error(secret)
    },
  },
  {
    how: 'throws no error at all',
    fail: () => {
      throw undefined
    },
  },
  { how: 'rejects with an error', fail: () => Promise.reject(new Error(secret)) },
  { how: 'rejects with nothing', fail: () => Promise.reject() },
  { how: 'rejects with null', fail: () => Promise.reject(null) },
  { how: 'rejects with a text', fail: () => Promise.reject(secret) },
  {
    how: 'rejects with something that calls itself a 401',
    fail: () => Promise.reject({ status: 401, statusCode: 401, code: 'unauthorized', secret }),
  },
  {
    how: 'rejects with an error of this library',
    fail: () => Promise.reject(new AuthError('refresh_token_reused', { detail: secret })),
  },
]

const at = (path: string): string => `/v1/auth/client${path}`

/** When the clock of every host here begins. */
const { stub, settings: providers } = await oauthOptions(() => Date.UTC(2026, 0, 1))

const me = (host: ContractHost, bearer: string): Promise<Reply> =>
  host.send('GET', at('/me'), { bearer })

const refresh = (host: ContractHost, refreshToken: string): Promise<Reply> =>
  refreshByCookie(host, 'client', refreshToken)

/** Registers, and follows the link; the last is what fails. */
async function confirmed(host: ContractHost): Promise<Reply> {
  const email = 'new@example.org'
  const { cookie } = await registerHere(host, 'client', { email })
  const token = await mailedToken(host, 'verifyEmail', email)
  return verifyWith(host, 'client', { token }, cookie)
}

/** A request that makes a call of this name, by somebody who may. */
const callers: Readonly<Record<string, (host: ContractHost, who: Caller) => Promise<Reply>>> = {
  'client_users.find': (host, { email, password }) =>
    host.send('POST', at('/login'), { body: { email, password } }),
  'client_sessions.insert': (host, { email, password }) =>
    host.send('POST', at('/login'), { body: { email, password } }),
  'client_refresh_tokens.insert': (host, { email, password }) =>
    host.send('POST', at('/mobile/login'), { body: { email, password } }),
  'client_users.update': (host, { bearer }) =>
    host.send('PATCH', at('/me'), { bearer, body: { name: 'Grace' } }),
  'client_users.get': (host, { bearer }) => me(host, bearer),
  'client_registrations.insert': (host) =>
    host.send('POST', at('/register'), {
      body: { email: 'new@example.org', password: goodPassword },
    }),
  'client_users.insert': (host) => confirmed(host),
  'client_registrations.find': (host) => confirmed(host),
  'client_registrations.take': (host) => confirmed(host),
  'denylist.find': (host, { bearer }) => me(host, bearer),
  'denylist.put': (host, { bearer }) => host.send('POST', at('/logout'), { bearer }),
  'client_sessions.update': (host, { bearer }) => host.send('POST', at('/logout'), { bearer }),
  'client_refresh_tokens.update': (host, { refreshToken }) => refresh(host, refreshToken),
  'client_refresh_tokens.get': (host, { cookie }) => host.send('GET', at('/session'), { cookie }),
  'client_refresh_tokens.find': (host, { bearer }) =>
    host.send('POST', at('/logout'), { bearer, body: { everywhere: true } }),
  'client_password_histories.get': (host, { bearer, password }) =>
    host.send('POST', at('/me/password'), {
      bearer,
      body: { currentPassword: password, newPassword: otherPassword },
    }),
  'client_account_deletions.insert': (host, { bearer, password }) =>
    host.send('DELETE', at('/me'), { bearer, body: { currentPassword: password } }),
  'client_account_deletions.update': (host, { bearer, password }) =>
    host.send('DELETE', at('/me'), { bearer, body: { currentPassword: password } }),
  'client_users.take': (host, { bearer, password }) =>
    host.send('DELETE', at('/me'), { bearer, body: { currentPassword: password } }),
  'client_challenges.insert': (host) => oauthSteps(host, stub).startWeb('client', 'google'),
  'client_challenges.get on the way back': (_host, { comeBack }) => comeBack(),
  'client_challenges.take': async (host) => {
    const them = await enrolled(host, 'client')
    const mfaToken = await ticketOf(host, 'client', them)
    return finish(host, 'client', mfaToken, await them.nextCode())
  },
  'client_oauth_identities.get': (_host, { comeBack }) => comeBack(),
  'client_oauth_identities.insert': (_host, { comeBack }) => comeBack(),
  'client_challenges.insert for an app': (_host, { comeBackToApp }) => comeBackToApp(),
  'client_challenges.update': (host, { code }) => oauthSteps(host, stub).exchange('client', code),
  'client_challenges.get': async (host, { code }) => {
    const { exchange } = oauthSteps(host, stub)
    // The one that comes again is asked for when it was marked already.
    for (let time = 0; time < 2; time += 1) await exchange('client', code)
    return exchange('client', code)
  },
  'client_intents.get': (host, { resetToken }) =>
    host.send('POST', at('/password/reset'), {
      body: { token: resetToken, newPassword: otherPassword },
    }),
  'client_intents.take': (host, { resetToken }) =>
    host.send('POST', at('/password/reset'), {
      body: { token: resetToken, newPassword: otherPassword },
    }),
}

interface Caller extends Person, SignedIn {
  readonly resetToken: string
  /** Somebody's browser is back from a provider, on the web and on the way to an app. */
  readonly comeBack: () => Promise<Reply>
  readonly comeBackToApp: () => Promise<Reply>
  /** Of an app that has not exchanged it yet. */
  readonly code: string
}

/** Ways back from a provider. */
async function flows(host: ContractHost) {
  const steps = oauthSteps(host, stub)
  const agree = (url: string, subject: string) =>
    stub.agree(url, { subject, email: `${subject}@example.net`, verified: true })
  const web = await steps.depart('client', 'google')
  const brought = agree(web.authorizationUrl, '1')
  const toApp = agree(await steps.departFromApp('client', 'google'), '2')
  const done = agree(await steps.departFromApp('client', 'google'), '3')
  return {
    comeBack: () => steps.comeBack('client', 'google', brought, web.cookie),
    comeBackToApp: () => steps.comeBack('client', 'google', toApp),
    code: memberOf(await steps.comeBack('client', 'google', done), 'code'),
  }
}

async function caller(host: ContractHost): Promise<Caller> {
  const who = await signedInPerson(host, 'client')
  await host.send('POST', at('/password/forgot'), { body: { email: who.email } })
  const resetToken = await mailedToken(host, 'resetPassword', who.email)
  return { ...who, resetToken, ...(await flows(host)) }
}

describe.each(tantrums)('a store method that $how', ({ fail }) => {
  it.each(Object.keys(callers))('%s: 503 without internals', async (name) => {
    let isFailing = false
    const backend = withCall(memory(), (called, work) =>
      isFailing && called === name.split(' ')[0] ? fail() : work(),
    )
    const host = await openHost({ backend, fetcher: stub, settings: providers })
    const who = await caller(host)
    isFailing = true
    const reply = await callers[name]?.(host, who)
    isFailing = false
    expect(reply?.status).toBe(503)
    expect(reply?.code).toMatch(/^(service|session_enforcement)_unavailable$/)
    expect(reply?.text).not.toContain('hunter2')
    expect(reply?.setCookies).toEqual([])
    expect((await refresh(host, who.refreshToken)).status).not.toBe(503)
  })

  it.each(['counter.hit', 'counter.forgive', 'client_audit_records.insert'])(
    '%s: the request goes on without it',
    async (name) => {
      let isFailing = false
      const backend = withCall(memory(), (called, work) =>
        isFailing && called === name ? fail() : work(),
      )
      const host = await openHost({ backend })
      const { email, password } = await signedInPerson(host, 'client')
      isFailing = true
      const body = { email, password }
      expect((await host.send('POST', at('/login'), { body })).status).toBe(200)
      await host.auth.close()
    },
  )
})

it('counter.add: requests go on without it', async () => {
  let failures = 0
  const backend = withCall(memory(), (called, work) => {
    if (called !== 'counter.add') return work()
    failures += 1
    throw new Error('the connection broke')
  })
  const host = await openHost({ backend })
  const { bearer } = await signedInPerson(host, 'client')
  for (let time = 0; time < 5; time += 1) {
    expect((await host.send('GET', at('/me'), { bearer })).status).toBe(200)
  }
  expect(failures).toBe(3)
})

describe('other ports of the host', () => {
  it.each(tantrums)('a mailer that $how changes no reply', async ({ fail }) => {
    const host = await openHost({ mailer: { send: fail } })
    const { email } = await signedInPerson(host, 'client')
    const body = { email }
    const reply = await host.send('POST', at('/password/forgot'), { body })
    expect(reply.status).toBe(202)
    await host.auth.close()
    expect(host.events.map(({ type }) => type)).toContain('mail.failed')
  })

  it.each(tantrums)('an onEvent that $how changes no reply', async ({ fail }) => {
    const host = await openHost({ onEvent: () => fail() })
    await signedInPerson(host, 'client')
  })

  it.each(tantrums)('a logger that $how changes no reply', async ({ fail }) => {
    // What a host passes where promises are as good as nothing: the type allows it, linters do not.
    const log = fail as () => void
    const logger: Logger = { debug: log, info: log, warn: log, error: log }
    const store = faultyBackend(memory())
    const host = await openHost({ backend: store.backend, logger })
    const who = await signedInPerson(host, 'client')
    store.failNext('client_users.get', 'before')
    const refused = await refresh(host, who.refreshToken)
    expectProblem(refused, 503, 'session_enforcement_unavailable')
    expect((await refresh(host, who.refreshToken)).status).toBe(200)
  })

  it.each(tantrums)('a hasher that $how is 500, not 401', async ({ fail }) => {
    let isFailing = false
    const real = nodeRsHasher()
    const host = await openHost({
      settings: { lockoutThreshold: 3 },
      hash: {
        params: { memoryCost: 64, timeCost: 1, parallelism: 1 },
        allowWeakHashesForTests: true,
        implementation: {
          hash: (...given) => real.hash(...given),
          verify: (...given) => (isFailing ? fail() : real.verify(...given)),
        },
      },
    })
    const { email, password } = await signedInPerson(host, 'client')
    isFailing = true
    const body = { email, password }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expectProblem(await host.send('POST', at('/login'), { body }), 500, 'internal_error')
    }
    isFailing = false
    // None of these was a wrong guess.
    expect((await host.send('POST', at('/login'), { body })).status).toBe(200)
  })
})
