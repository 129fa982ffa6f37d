import type { LinkKind } from '../../src/model/intents.js'
import type { Reply } from '../support/hosts/http-client.js'
import { githubSettings } from './github-stand-in.js'
import { type Host, outcomeOf } from './host-client.js'
import { oauthUses } from './oauth-uses.js'
import { passkeyUses } from './passkey-uses.js'
import { secondFactorUses } from './second-factor-uses.js'

/**
 * Something that may happen once, however many ask for it at the same moment: a secret that is
 * spent, a name that is taken, a place that is free. A feature with another one adds an entry.
 */
export interface SingleUse {
  readonly kind: string
  /** For a link: of which kind it is. */
  readonly purpose?: LinkKind
  /** How many of the racers win; one, unless it is a budget. */
  readonly winners?: number
  /** Sets up a round that nobody has raced yet; gives what each racer does. */
  prepare(host: Host, round: number): Promise<Race>
  readonly won: RegExp
  /** What the losers are answered, each of them. */
  readonly lost: RegExp
}

export interface Race {
  /** Resolves to an outcome, as `outcomeOf` has it. */
  attempt(host: Host, racer: number): Promise<string>
  /** Where replies tell winners and losers apart for nobody: how often it happened. */
  happened?(hosts: readonly Host[]): Promise<number>
}

/** How many wrong passwords one address may meet, on hosts that race these. */
const guesses = 5
export const raceSettings = {
  refreshReuseGrace: '0s',
  lockoutThreshold: guesses,
  passwordMaxAge: '1d',
  backupCodeCount: 20,
  accessTokenTTL: '1h',
  webauthnMode: 'passwordless',
  ...githubSettings,
} as const

const later = { aheadMs: 2 * 24 * 60 * 60 * 1000 }
const window = { windowMs: 60_000, now: Date.UTC(2030, 0, 1) }
const password = 'correct horse battery staple'
const spent = /^(400 invalid_token|429 rate_limited)$/

let people = 0

function newEmail(): string {
  people += 1
  return `racer-${process.pid}-${people}@example.org`
}

const post = (host: Host, path: string, body: unknown, more: { aheadMs?: number } = {}) =>
  host.send('POST', `/v1/auth/client${path}`, { body, ...more })

async function made(reply: Promise<Reply>, status: number): Promise<Reply> {
  const answered = await reply
  if (answered.status !== status) throw new Error(`${answered.status} ${answered.text}`)
  return answered
}

const register = (host: Host, email: string) => post(host, '/register', { email, password })

/** Each racer sets a password of its own: who knows the new one may finish an interrupted reset. */
function reset(token: string, more: { aheadMs?: number } = {}): Race {
  return {
    attempt: async (host, racer) => {
      const newPassword = `the passphrase of racer ${racer}`
      return outcomeOf(await post(host, '/password/reset', { token, newPassword }, more))
    },
  }
}

async function registeredBy(hosts: readonly Host[]): Promise<number> {
  const states = await Promise.all(hosts.map((host) => host.control('state', null)))
  return states.reduce((sum, { events }) => sum + (events['account.registered'] ?? 0), 0)
}

export const singleUses: readonly SingleUse[] = [
  {
    kind: 'a generation of a refresh token',
    won: /^200 rotated$/,
    lost: /^401 (refresh_token_reused|session_revoked)$/,
    async prepare(host) {
      const { refreshToken } = await host.newLogin()
      return { attempt: async (at) => outcomeOf(await at.refresh(refreshToken)) }
    },
  },
  {
    kind: 'a link that confirms an address',
    purpose: 'verifyEmail',
    won: /^200$/,
    lost: spent,
    async prepare(host) {
      const email = newEmail()
      await host.control('createUser', { email, password, emailVerified: false })
      await made(post(host, '/email/verify/resend', { email }), 202)
      const { token } = await host.control('mailed', { email })
      return {
        attempt: async (at) =>
          outcomeOf(await post(at, '/email/verify', { token, newPassword: password })),
      }
    },
  },
  {
    kind: 'a link that makes an account',
    purpose: 'register',
    // Who comes late finds it made, or the link spent, or the guesses at its password used up.
    won: /^200$/,
    lost: /^(200|400 invalid_token|429 rate_limited)$/,
    async prepare(host) {
      const email = newEmail()
      await made(register(host, email), 201)
      const { token } = await host.control('mailed', { email })
      let before = 0
      return {
        attempt: async (at) =>
          outcomeOf(await post(at, '/email/verify', { token, newPassword: password })),
        async happened(hosts) {
          const all = await registeredBy(hosts)
          const since = all - before
          before = all
          return since
        },
      }
    },
  },
  {
    kind: 'a link that changes an address',
    purpose: 'changeEmail',
    won: /^200$/,
    lost: spent,
    async prepare(host) {
      const { accessToken: bearer, password: currentPassword } = await host.newLogin()
      const email = newEmail()
      const body = { newEmail: email, currentPassword }
      await made(host.send('POST', '/v1/auth/client/me/email', { bearer, body }), 202)
      const { token } = await host.control('mailed', { email })
      return {
        attempt: async (at) =>
          outcomeOf(await post(at, '/email/verify', { token, currentPassword })),
      }
    },
  },
  {
    kind: 'a link that resets a password',
    purpose: 'resetPassword',
    won: /^204$/,
    lost: spent,
    async prepare(host) {
      const email = newEmail()
      await host.control('createUser', { email, password })
      await made(post(host, '/password/forgot', { email }), 202)
      return reset((await host.control('mailed', { email })).token)
    },
  },
  {
    kind: 'a token for a password that is too old',
    purpose: 'expiredPassword',
    won: /^204$/,
    lost: spent,
    async prepare(host) {
      const email = newEmail()
      await host.control('createUser', { email, password })
      const reply = await made(post(host, '/mobile/login', { email, password }, later), 200)
      return reset(String(reply.json()['passwordToken']), later)
    },
  },
  {
    kind: 'an address for a user made by the host',
    won: /^200$/,
    lost: /^409/,
    async prepare() {
      const email = newEmail()
      return {
        attempt: async (at) => outcomeOf(await at.tryControl('createUser', { email, password })),
      }
    },
  },
  {
    kind: 'a lease nobody holds',
    won: /^true$/,
    lost: /^false$/,
    async prepare(host, round) {
      const name = `race-${process.pid}`
      const seen = round === 0 ? null : { owner: null, renewal: 2 * round }
      const attempt: Race['attempt'] = async (at, racer) => {
        const next = { owner: `racer ${racer}`, renewal: 2 * round + 1 }
        const { replaced } = await at.control('replaceLease', { name, seen, next })
        if (replaced) {
          const released = { owner: null, renewal: 2 * round + 2 }
          await host.control('replaceLease', { name, seen: next, next: released })
        }
        return String(replaced)
      }
      return { attempt }
    },
  },
  {
    kind: 'the last hit a limit allows',
    won: /^true$/,
    lost: /^false$/,
    async prepare(_host, round) {
      const key = `race-${process.pid}-${round}`
      return {
        attempt: async (at) =>
          String((await at.control('hit', { key, limit: 1, ...window })).allowed),
      }
    },
  },
  {
    kind: `the ${guesses} guesses at a password`,
    winners: guesses,
    won: /^401 invalid_credentials$/,
    lost: /^429 rate_limited$/,
    async prepare(host, round) {
      const email = newEmail()
      await host.control('createUser', { email, password })
      const body = { email, password: 'not the password at all' }
      return {
        attempt: async (at, racer) => {
          const from = `10.${racer}.${round >> 8}.${round & 255}`
          const circumstances = { body, from }
          return outcomeOf(await at.send('POST', '/v1/auth/client/mobile/login', circumstances))
        },
      }
    },
  },
  ...passkeyUses,
  ...secondFactorUses,
  ...oauthUses,
]
