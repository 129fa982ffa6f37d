import { generateSync } from 'otplib'
import { type Host, outcomeOf } from './host-client.js'
import type { Race, SingleUse } from './single-uses.js'

const client = '/v1/auth/client'
/** Besides the winner: too late, beyond the guesses of session and account, or after those ended the session. */
export const late = /^(401 (invalid_mfa_code|session_revoked)|429 rate_limited)$/

interface Enrolled {
  readonly email: string
  readonly password: string
  readonly accessToken: string
  readonly backupCodes: readonly string[]
  /** The code after the one that confirmed the app, early by less than the tolerance (S-23). */
  readonly nextCode: string
}

async function posted(
  host: Host,
  path: string,
  body: object,
  bearer?: string,
): Promise<Record<string, unknown>> {
  const given = bearer === undefined ? { body } : { body, bearer }
  const reply = await host.send('POST', `${client}${path}`, given)
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`)
  return reply.json()
}

/** Somebody with an authenticator app, signed in with the password alone. */
async function enrolled(host: Host): Promise<Enrolled> {
  const { email, password, accessToken } = await host.newLogin()
  const begun = await posted(host, '/mfa/totp', { currentPassword: password }, accessToken)
  const secret = String(begun['secret'])
  const epoch = Math.floor(Date.now() / 1000)
  const code = generateSync({ secret, epoch })
  const { backupCodes } = await posted(host, '/mfa/totp/confirm', { code }, accessToken)
  if (!Array.isArray(backupCodes)) throw new Error('no backup codes')
  const nextCode = generateSync({ secret, epoch: epoch + 30 })
  return { email, password, accessToken, backupCodes: backupCodes.map(String), nextCode }
}

function steppingUp({ accessToken: bearer }: Enrolled, method: string, code: string): Race {
  const given = { bearer, body: { method, code } }
  return {
    attempt: async (host) => outcomeOf(await host.send('POST', `${client}/step-up`, given)),
  }
}

export const secondFactorUses: readonly SingleUse[] = [
  {
    kind: 'a backup code',
    won: /^200$/,
    lost: late,
    async prepare(host) {
      const who = await enrolled(host)
      return steppingUp(who, 'backupCode', who.backupCodes[0] ?? '')
    },
  },
  {
    kind: 'a time step of an authenticator app',
    won: /^200$/,
    lost: late,
    async prepare(host) {
      const who = await enrolled(host)
      return steppingUp(who, 'totp', who.nextCode)
    },
  },
  {
    kind: 'the ticket of a half-finished login',
    won: /^200$/,
    lost: /^(401 mfa_ticket_invalid|429 rate_limited)$/,
    async prepare(host) {
      const { email, password, backupCodes } = await enrolled(host)
      const { mfaToken } = await posted(host, '/mobile/login', { email, password })
      return {
        // Each with a code that is right and nobody else's, so that only the ticket is raced for: a
        // wrong one may be the last that the ticket bears.
        attempt: async (at, racer) => {
          const body = { mfaToken, method: 'backupCode', code: backupCodes[racer] }
          return outcomeOf(await at.send('POST', `${client}/login/mfa`, { body }))
        },
      }
    },
  },
]
