import assert from 'node:assert/strict'
import { storeSettings } from '../../contract/oauth/oauth-host.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import { smallSigningKey, testSigningKey } from '../../support/keys.js'
import {
  goodPassword,
  otherPassword,
  type Person,
  person,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { linkFor, login, reset } from '../../support/people/recovery-steps.js'
import { at, openThreatened, type Theft, type Threat, told } from './threat.js'

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute
const revoked = '401 session_revoked'

const me = async (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>) =>
  told(await host.send('GET', at('/me'), { bearer }))
const logout = (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>, body: object = {}) =>
  host.send('POST', at('/logout'), { bearer, body })

export async function changePassword(
  host: ContractHost,
  { bearer, password }: Person & SignedIn,
): Promise<void> {
  const body = { currentPassword: password, newPassword: otherPassword }
  const reply = await host.send('POST', at('/me/password'), { bearer, body })
  assert.equal(reply.status, 204, reply.text)
}

export const password: Threat = {
  ends: {
    'a change of the password': async (host) => {
      const who = await signedInPerson(host, 'client')
      return {
        use: async () => told(await login(host, 'client', who.email, who.password)),
        end: () => changePassword(host, who),
        works: '200',
        after: '401 invalid_credentials',
      }
    },
    'a reset of the password': async (host) => {
      const who = await person(host, 'client')
      return {
        use: async () => told(await login(host, 'client', who.email, who.password)),
        end: async () =>
          reset(host, 'client', await linkFor(host, 'client', who.email), otherPassword),
        works: '200',
        after: '401 invalid_credentials',
      }
    },
  },
  meanwhile: {},
}

const squatters = 'the password of a squatter'

/** A stranger registers the victim's address where registration needs no confirmation. */
export const plantedPassword: Threat = {
  open: (kind) => openThreatened(kind, { settings: { emailVerificationRequired: false } }),
  ends: {
    'the first proof of the mailbox by its owner': async (host) => {
      const email = 'victim@example.org'
      await host.send('POST', at('/register'), { body: { email, password: squatters } })
      return {
        use: async () => told(await login(host, 'client', email, squatters)),
        async end() {
          await host.send('POST', at('/email/verify/resend'), { body: { email } })
          const token = await mailedToken(host, 'verifyEmail', email)
          const body = { token, newPassword: goodPassword }
          const reply = await host.send('POST', at('/email/verify'), { body })
          assert.equal(reply.status, 200, reply.text)
        },
        works: '200',
        after: '401 invalid_credentials',
      }
    },
  },
  meanwhile: {
    'it takes no second factor, identity or trusted device': async (host) => {
      const email = 'victim@example.org'
      await host.send('POST', at('/register'), { body: { email, password: squatters } })
      const { json } = await login(host, 'client', email, squatters)
      const bearer = textOf(json(), 'accessToken')
      return {
        twin: () => me(host, { bearer }),
        use: async () => {
          const body = { currentPassword: squatters }
          return told(await host.send('POST', at('/mfa/totp'), { bearer, body }))
        },
        works: '200',
        after: '403 email_not_verified',
      }
    },
  },
}

/** A thief with a copy of the refresh cookie, who goes on from what they last got. */
function copyOf(host: ContractHost, { cookie }: Pick<SignedIn, 'cookie'>) {
  let newest = cookie
  return {
    async refresh(): Promise<string> {
      const reply = await host.send('POST', at('/refresh-cookie'), { cookie: newest })
      if (reply.status === 200) newest = refreshCookieOf(reply, 'client')
      return told(reply)
    },
    /** Mints an access token and consumes nothing. */
    view: async () => told(await host.send('GET', at('/session'), { cookie: newest })),
  }
}

type Owner = Person & SignedIn

/** The thief refreshes, the owner does what ends it, the thief refreshes again. */
function refreshTheft(
  end: (host: ContractHost, who: Owner) => Promise<unknown>,
  after: string = revoked,
) {
  return async (host: ContractHost): Promise<Theft> => {
    const who = await signedInPerson(host, 'client')
    const { refresh: use } = copyOf(host, who)
    return { use, end: () => end(host, who), works: '200', after }
  }
}

export const refreshToken: Threat = {
  ends: {
    'a logout': refreshTheft((host, who) => logout(host, who)),
    'ending its session': refreshTheft(async (host, who) => {
      const { sessionId } = await host.auth.client.authenticate(`Bearer ${who.bearer}`)
      assert.equal(await host.auth.client.terminateSession(sessionId ?? ''), true)
    }),
    'signing out everywhere': refreshTheft(async (host, who) =>
      logout(host, await signIn(host, 'client', who), { everywhere: true }),
    ),
    'disabling the account': refreshTheft((host, { id }) =>
      host.auth.client.users.update(id, { enabled: false }),
    ),
    'the end of the idle window': refreshTheft(
      (host) => host.clock.advance(7 * day),
      '401 refresh_token_expired',
    ),
    'the absolute cap': refreshTheft(async (host) => {
      await storeSettings(host, { sessionAbsoluteTTL: '1h' })
      await host.clock.advance(60 * minute)
    }, '401 session_max_age_reached'),
    'a refresh by whichever of owner and thief comes second': refreshTheft(async (host, who) => {
      await host.clock.advance(11 * second)
      const owner = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
      assert.equal(told(owner), '401 refresh_token_reused')
    }),
    'a password change in another session': refreshTheft(async (host, who) =>
      changePassword(host, { ...who, ...(await signIn(host, 'client', who)) }),
    ),
    'after a password change in its own, a refresh by whichever comes second, at once':
      refreshTheft(async (host, who) => {
        await changePassword(host, who)
        const owner = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
        assert.equal(told(owner), '401 refresh_token_reused')
      }),
    'a reset of the password': refreshTheft(async (host, { email }) =>
      reset(host, 'client', await linkFor(host, 'client', email), otherPassword),
    ),
    terminateAllSessions: refreshTheft((host) => host.auth.terminateAllSessions()),
  },
  meanwhile: {
    'within `refreshReuseGrace` of a refresh, a copy is exchanged for the newest token': async (
      host,
    ) => {
      const who = await signedInPerson(host, 'client')
      const thief = copyOf(host, who)
      const end = async () => assert.equal(await copyOf(host, who).refresh(), '200')
      return { twin: thief.view, use: thief.refresh, end, works: '200', after: '200' }
    },
    'beside a client that calls only `GET /session`, or pages that only read it by `sessionOf`, a copy lives until the idle window ends':
      async (host) => {
        const who = await signedInPerson(host, 'client')
        const thief = copyOf(host, who)
        const end = async () => {
          await host.clock.advance(6 * day)
          assert.equal(await copyOf(host, who).view(), '200')
        }
        return { twin: thief.view, use: thief.refresh, end, works: '200', after: '200' }
      },
    'a connection that was opened with a copy goes on with the session, until the session ends, or changes its password and is refreshed':
      async (host) => {
        const who = await signedInPerson(host, 'client')
        const headers = { cookie: who.cookie, origin: 'https://app.example.com' }
        const thief = { method: 'GET', headers }
        const connection = await host.auth.client.sessionOf(thief, { use: 'connection' })
        return {
          use: async () => ((await connection?.recheck()) ? 'open' : 'closed'),
          async end() {
            await host.clock.advance(11 * second)
            const owner = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
            assert.equal(told(owner), '200')
            await host.clock.advance(2 * day)
          },
          works: 'open',
          after: 'open',
        }
      },
  },
}

const loseDenylist = (host: ContractHost) =>
  host.backend.denylist.sweep(host.clock.now() + 365 * day, 1000)

export const accessToken: Threat = {
  ends: {
    'its expiry': async (host) => {
      const who = await signedInPerson(host, 'client')
      const end = () => host.clock.advance(15 * minute)
      return { use: () => me(host, who), end, works: '200', after: '401' }
    },
    'any end of its session': async (host) => {
      const who = await signedInPerson(host, 'client')
      const end = () => host.send('POST', at('/logout'), { cookie: who.cookie, body: {} })
      return { use: () => me(host, who), end, works: '200', after: revoked }
    },
  },
  meanwhile: {
    'once the denylist lost its data, one of an ended session works until it expires': async (
      host,
    ) => {
      const who = await signedInPerson(host, 'client')
      return {
        use: () => me(host, who),
        async end() {
          await logout(host, who)
          assert.equal(await me(host, who), revoked)
          await loseDenylist(host)
        },
        works: '200',
        after: '200',
      }
    },
  },
}

let ring = { current: '' }

export const signingKey: Threat = {
  async open(kind) {
    ring = { current: await testSigningKey() }
    return openThreatened(kind, { keys: async () => ring })
  },
  ends: {
    'its replacement without `previous`, a minute later on every process': async (host) => {
      const who = await signedInPerson(host, 'client')
      return {
        use: () => me(host, who),
        async end() {
          ring = { current: smallSigningKey() }
          await host.clock.advance(minute)
          // The new ring is made ready in another thread.
          await new Promise((resolve) => setTimeout(resolve, 100))
        },
        works: '200',
        after: '401',
      }
    },
  },
  meanwhile: {},
}
