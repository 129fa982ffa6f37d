import assert from 'node:assert/strict'
import { mailedCodeFor, showCode } from '../../contract/login/mailed-code-steps.js'
import {
  memberOf,
  type OauthHost,
  oauthHost,
  storeSettings,
} from '../../contract/oauth/oauth-host.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf } from '../../support/hosts/http-client.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import { type Enrolled, enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, person, signIn } from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { changePassword } from './session-threats.js'
import { at, openThreatened, type Theft, type Threat, told } from './threat.js'

const minute = 60_000
const thiefsPassword = 'the thief chose this passphrase'

async function moveAddress(host: ContractHost, who: Person): Promise<void> {
  const { bearer } = await signIn(host, 'client', who)
  const body = { newEmail: 'moved@example.net', currentPassword: who.password }
  await host.send('POST', at('/me/email'), { bearer, body })
  const token = await mailedToken(host, 'changeEmail', 'moved@example.net')
  const done = await host.send('POST', at('/email/verify'), { bearer, body: { token } })
  assert.equal(done.status, 200, done.text)
}

/** The thief read the mail; somebody else's link is seen to work first. */
function linkTheft(end: (host: ContractHost, who: Person) => Promise<unknown>, after: string) {
  return async (host: ContractHost): Promise<Theft> => {
    const [who, other] = [await person(host, 'client'), await person(host, 'client')]
    const theirs = await linkFor(host, 'client', other.email)
    const token = await linkFor(host, 'client', who.email)
    return {
      twin: async () => told(await reset(host, 'client', theirs, thiefsPassword)),
      use: async () => told(await reset(host, 'client', token, thiefsPassword)),
      end: () => end(host, who),
      works: '204',
      after,
    }
  }
}

const voidLink = '400 invalid_token'

export const resetLink: Threat = {
  ends: {
    'one use': async (host) => {
      const who = await person(host, 'client')
      const token = await linkFor(host, 'client', who.email)
      let uses = 0
      const use = async () => {
        uses += 1
        return told(await reset(host, 'client', token, `${thiefsPassword}, no. ${uses}`))
      }
      return { use, works: '204', after: voidLink }
    },
    'a newer link': linkTheft((host, { email }) => linkFor(host, 'client', email), voidLink),
    'a change of the password': linkTheft(
      async (host, who) => changePassword(host, { ...who, ...(await signIn(host, 'client', who)) }),
      voidLink,
    ),
    'a completed change of address': linkTheft(moveAddress, voidLink),
    'its expiry': linkTheft((host) => host.clock.advance(60 * minute), '400 token_expired'),
    terminateAllSessions: linkTheft((host) => host.auth.terminateAllSessions(), voidLink),
  },
  meanwhile: {
    'signing out everywhere does not end it': linkTheft(async (host, who) => {
      const { bearer } = await signIn(host, 'client', who)
      await host.send('POST', at('/logout'), { bearer, body: { everywhere: true } })
    }, '204'),
  },
}

const everywhere = async (host: ContractHost, who: Person): Promise<void> => {
  const { bearer } = await signIn(host, 'client', who)
  await host.send('POST', at('/logout'), { bearer, body: { everywhere: true } })
}

/** The thief read the mail, and has what the owner's browser keeps. */
function mailedCodeTheft(end: (host: ContractHost, who: Person) => Promise<unknown>) {
  return async (host: ContractHost): Promise<Theft> => {
    const [who, other] = [await person(host, 'client'), await person(host, 'client')]
    const theirs = await mailedCodeFor(host, 'client', other.email)
    const stolen = await mailedCodeFor(host, 'client', who.email)
    return {
      twin: async () => told(await showCode(host, 'client', theirs.code, theirs)),
      use: async () => told(await showCode(host, 'client', stolen.code, stolen)),
      end: () => end(host, who),
      works: '200',
      after: '401 invalid_credentials',
    }
  }
}

export const mailedCode: Threat = {
  ends: {
    'one use': async (host) => {
      const who = await person(host, 'client')
      const stolen = await mailedCodeFor(host, 'client', who.email)
      const use = async () => told(await showCode(host, 'client', stolen.code, stolen))
      return { use, works: '200', after: '401 invalid_credentials' }
    },
    'its expiry': mailedCodeTheft((host) => host.clock.advance(10 * minute)),
    'a change of the password': mailedCodeTheft(async (host, who) =>
      changePassword(host, { ...who, ...(await signIn(host, 'client', who)) }),
    ),
    'a completed change of address': mailedCodeTheft(moveAddress),
    'signing out everywhere': mailedCodeTheft(everywhere),
    terminateAllSessions: mailedCodeTheft((host) => host.auth.terminateAllSessions()),
  },
  meanwhile: {
    'without the key it opens nothing': async (host) => {
      const who = await person(host, 'client')
      const { code, cookie } = await mailedCodeFor(host, 'client', who.email)
      const use = async () => told(await showCode(host, 'client', code, {}))
      const twin = async () => told(await showCode(host, 'client', code, { cookie }))
      return { twin, use, works: '200', after: '401 invalid_credentials' }
    },
  },
}

const voidTicket = '401 mfa_ticket_invalid'

function ticketTheft(end: (host: ContractHost, who: Enrolled) => Promise<unknown>) {
  return async (host: ContractHost): Promise<Theft> => {
    const who = await enrolled(host, 'client')
    const [first, second] = [
      await ticketOf(host, 'client', who),
      await ticketOf(host, 'client', who),
    ]
    const finishOf = async (ticket: string) =>
      told(await finish(host, 'client', ticket, await who.nextCode()))
    return {
      twin: () => finishOf(first),
      use: () => finishOf(second),
      end: () => end(host, who),
      works: '200',
      after: voidTicket,
    }
  }
}

export const loginTicket: Threat = {
  ends: {
    'one use': async (host) => {
      const who = await enrolled(host, 'client')
      const ticket = await ticketOf(host, 'client', who)
      const use = async () => told(await finish(host, 'client', ticket, await who.nextCode()))
      return { use, works: '200', after: voidTicket }
    },
    'its expiry': ticketTheft((host) => host.clock.advance(5 * minute)),
    'a change of the password': ticketTheft((host, who) => changePassword(host, who)),
    'signing out everywhere': ticketTheft((host, { bearer }) =>
      host.send('POST', at('/logout'), { bearer, body: { everywhere: true } }),
    ),
    terminateAllSessions: ticketTheft((host) => host.auth.terminateAllSessions()),
  },
  meanwhile: {},
}

const openOauth: Threat['open'] = (kind) => oauthHost({}, kind)
const google = 'google'
let subjects = 0

/** The steps of a browser at a host that `openOauth` opened. */
function browserOf(host: ContractHost): OauthHost {
  assert.ok('stub' in host)
  return host as OauthHost
}

function newAccount() {
  subjects += 1
  return { subject: `${9000 + subjects}`, email: `account-${subjects}@example.org`, verified: true }
}

/** The answer of a provider, with the state, in the browser that keeps the flow's cookie. */
async function answered(host: ContractHost) {
  const on = browserOf(host)
  const account = newAccount()
  const { authorizationUrl, cookie } = await on.depart('client', google)
  const brought = on.stub.agree(authorizationUrl, account)
  return async () => told(await on.comeBack('client', google, brought, cookie))
}

function stateTheft(end: (host: ContractHost) => Promise<unknown>, after: string) {
  return async (host: ContractHost): Promise<Theft> => {
    const [twin, use] = [await answered(host), await answered(host)]
    return { twin, use, end: () => end(host), works: '302', after }
  }
}

export const oauthState: Threat = {
  open: openOauth,
  ends: {
    'one use': async (host) => ({
      use: await answered(host),
      works: '302',
      after: '400 invalid_oauth_state',
    }),
    'its expiry': stateTheft((host) => host.clock.advance(10 * minute), '400 invalid_oauth_state'),
    'switching the provider off': stateTheft(
      (host) => storeSettings(host, { googleClientEnabled: 'false' }),
      '303 oauth_provider_disabled',
    ),
  },
  meanwhile: {
    'for ten minutes after its use, with the cookie: get the login ticket again, while it is good':
      async (host) => {
        await storeSettings(host, { mfaPolicyClient: 'required' })
        const on = browserOf(host)
        const { authorizationUrl, cookie } = await on.depart('client', google)
        const brought = on.stub.agree(authorizationUrl, newAccount())
        const come = () => on.comeBack('client', google, brought, cookie)
        await come()
        const ticket = (reply: Reply) => /ticket=/.test(reply.headers.get('location') ?? '')
        return {
          use: async () => `${ticket(await come())}`,
          end: () => host.clock.advance(5 * minute),
          works: 'true',
          after: 'false',
        }
      },
    'with the refresh cookie of the session that it opened: learn that this session goes on':
      async (host) => {
        const on = browserOf(host)
        const { authorizationUrl, cookie } = await on.depart('client', google)
        const brought = on.stub.agree(authorizationUrl, newAccount())
        const session = refreshCookieOf(
          await on.comeBack('client', google, brought, cookie),
          'client',
        )
        const jar = `${cookie}; ${session}`
        return {
          use: async () => told(await on.comeBack('client', google, brought, jar)),
          end: () => host.auth.terminateAllSessions(),
          works: '302',
          after: '400 invalid_oauth_state',
        }
      },
  },
}

/** A code on its way back to the app, with the verifier that the app keeps. */
async function codeOf(host: ContractHost) {
  const on = browserOf(host)
  const account = newAccount()
  const url = await on.departFromApp('client', google)
  const code = memberOf(await on.comeBack('client', google, on.stub.agree(url, account)), 'code')
  return async () => told(await on.exchange('client', code))
}

function codeTheft(end: (host: ContractHost) => Promise<unknown>, after: string) {
  return async (host: ContractHost): Promise<Theft> => {
    const [twin, use] = [await codeOf(host), await codeOf(host)]
    return { twin, use, end: () => end(host), works: '200', after }
  }
}

export const appCode: Threat = {
  open: openOauth,
  ends: {
    'one use': async (host) => ({
      use: await codeOf(host),
      works: '200',
      after: '400 invalid_token',
    }),
    'its expiry': codeTheft((host) => host.clock.advance(minute), '400 invalid_token'),
    terminateAllSessions: codeTheft(
      (host) => host.auth.terminateAllSessions(),
      '400 invalid_token',
    ),
  },
  meanwhile: {},
}

type Asserted = () => Promise<string>

/** What an authenticator answered to a challenge, which a thief sends in its place. */
async function assertion(
  host: ContractHost,
  who: Awaited<ReturnType<typeof passkeyHolder>>,
): Promise<Asserted> {
  const on = passkeysOn(host, 'client')
  const { challengeId, options } = await on.begunLogin()
  const response = who.authenticator.get(options)
  return async () => told(await on.finishLogin(challengeId, response))
}

function challengeTheft(end: (host: ContractHost) => Promise<unknown>, after: string) {
  return async (host: ContractHost): Promise<Theft> => {
    const who = await passkeyHolder(host, 'client', { synced: true })
    const [twin, use] = [await assertion(host, who), await assertion(host, who)]
    return { twin, use, end: () => end(host), works: '200', after }
  }
}

export const passkeyChallenge: Threat = {
  open: (kind) => openThreatened(kind, { settings: { webauthnMode: 'passwordless' } }),
  ends: {
    'one use': async (host) => {
      const who = await passkeyHolder(host, 'client', { synced: true })
      const use = await assertion(host, who)
      return { use, works: '200', after: '401 invalid_credentials' }
    },
    'its expiry': challengeTheft(
      (host) => host.clock.advance(5 * minute),
      '401 invalid_credentials',
    ),
    'switching passkeys off': challengeTheft(
      (host) => storeSettings(host, { webauthnMode: 'off' }),
      '403 mfa_method_disabled',
    ),
  },
  meanwhile: {},
}
