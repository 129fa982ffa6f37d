import type { Surface } from '../../../src/ports/surface.js'
import { textOf } from '../../support/hosts/http-client.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import {
  type Enrolled,
  enrolled,
  enrolledByTicket,
  finish,
  passwordLogin,
  textsOf,
  ticketOf,
} from '../../support/people/authenticator.js'
import { type Holder, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { type Person, person, signIn } from '../../support/people/people.js'
import type { Effect, Effects } from './effect.js'
import type { SettingsHost } from './settings-host.js'

const second = 1000
const minute = 60 * second

const statusOf = async (host: SettingsHost, surface: Surface, who: Person): Promise<string> =>
  String((await passwordLogin(host, surface, who)).json()['status'])

const policy: Effect = {
  when: [
    ['required', 'mfaEnrollmentRequired, mfaRequired'],
    ['optional', 'authenticated, mfaRequired'],
    ['off', 'authenticated, authenticated'],
  ],
  async see(host, surface) {
    const without = await person(host, surface)
    const first = await statusOf(host, surface, without)
    if (first !== 'mfaEnrollmentRequired') {
      return `${first}, ${await statusOf(host, surface, await enrolled(host, surface))}`
    }
    await enrolledByTicket(host, surface, without)
    return `${first}, ${await statusOf(host, surface, without)}`
  },
}

async function beginTotp(host: SettingsHost, surface: Surface) {
  const who = await person(host, surface)
  const { bearer } = await signIn(host, surface, who)
  const body = { currentPassword: who.password }
  return host.send('POST', `/v1/auth/${surface}/mfa/totp`, { bearer, body })
}

/** A login finished with a code that the app showed `lateMs` ago. */
async function lateCode(
  host: SettingsHost,
  surface: Surface,
  who: Enrolled,
  lateMs: number,
): Promise<string> {
  const mfaToken = await ticketOf(host, surface, who)
  const code = await who.nextCode()
  await host.clock.advance(lateMs)
  return outcomeOf(await finish(host, surface, mfaToken, code))
}

/** Who enrolled on this host while that was allowed. */
const early = new WeakMap<SettingsHost, Promise<Enrolled>>()

/** Who registered a passkey on this host while that was allowed. */
const holders = new WeakMap<SettingsHost, Promise<Holder>>()

function earlyHolder(host: SettingsHost, surface: Surface): Promise<Holder> {
  const having = holders.get(host) ?? passkeyHolder(host, surface)
  holders.set(host, having)
  return having
}

/** The group MFA. */
export const mfaEffects: Effects = {
  mfaPolicyOperator: policy,
  mfaPolicyClient: policy,
  totpEnabled: {
    when: [
      ['true', 'totp+backupCode, 200, 201'],
      // Who has nothing else is asked for it all the same.
      ['false', 'totp+backupCode, 200, 403 mfa_method_disabled'],
    ],
    async see(host, surface) {
      const having = early.get(host) ?? enrolled(host, surface)
      early.set(host, having)
      const who = await having
      const first = (await passwordLogin(host, surface, who)).json()
      const mfaToken = textOf(first, 'mfaToken')
      const done = await finish(host, surface, mfaToken, await who.nextCode())
      const begun = await beginTotp(host, surface)
      return [textsOf(first, 'methods').join('+'), outcomeOf(done), outcomeOf(begun)].join(', ')
    },
  },
  totpIssuer: {
    when: [
      ['Acme & Sons', 'Acme & Sons'],
      ['', 'Auth'],
    ],
    async see(host, surface) {
      const uri = new URL(textOf((await beginTotp(host, surface)).json(), 'otpauthUri'))
      return uri.searchParams.get('issuer') ?? 'none'
    },
  },
  totpSkewSteps: {
    when: [
      ['0', '401 invalid_mfa_code, 401 invalid_mfa_code'],
      ['1', '200, 401 invalid_mfa_code'],
      ['2', '200, 200'],
    ],
    async see(host, surface) {
      const who = await enrolled(host, surface)
      const one = await lateCode(host, surface, who, 30 * second)
      return `${one}, ${await lateCode(host, surface, who, 60 * second)}`
    },
  },
  backupCodeCount: {
    when: [
      ['5', '5'],
      ['20', '20'],
      ['', '10'],
    ],
    see: async (host, surface) => String((await enrolled(host, surface)).backupCodes.length),
  },
  webauthnMode: {
    when: [
      ['off', '403 mfa_method_disabled, mfaRequired, 403 mfa_method_disabled'],
      ['secondFactor', '200, mfaRequired, 403 mfa_method_disabled'],
      ['passwordless', '200, mfaRequired, 200'],
    ],
    async see(host, surface) {
      const holder = await earlyHolder(host, surface)
      const on = passkeysOn(host, surface)
      const who = await person(host, surface)
      const { bearer } = await signIn(host, surface, who)
      const begun = await on.startRegistration({ bearer, currentPassword: who.password })
      const login = await statusOf(host, surface, holder)
      return [outcomeOf(begun), login, outcomeOf(await on.startLogin())].join(', ')
    },
  },
  webauthnUserVerification: {
    when: [
      ['required', 'required, 401 invalid_credentials'],
      ['preferred', 'preferred, 200'],
    ],
    async see(host, surface) {
      const who = await earlyHolder(host, surface)
      const on = passkeysOn(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const { options } = await on.begunLogin(mfaToken)
      const unverified = { userVerified: false }
      const done = await on.login(who.authenticator, mfaToken, unverified)
      return `${options.userVerification}, ${outcomeOf(done)}`
    },
  },
  mfaMaxAttempts: {
    when: [
      ['3', '401 mfa_ticket_invalid'],
      ['4', '401 invalid_mfa_code'],
    ],
    async see(host, surface) {
      const mfaToken = await ticketOf(host, surface, await enrolled(host, surface))
      await finish(host, surface, mfaToken, '000000')
      await finish(host, surface, mfaToken, '000000')
      return outcomeOf(await finish(host, surface, mfaToken, '000000'))
    },
  },
  stepUpMaxAge: {
    when: [
      ['1m', '403 step_up_required'],
      ['2m', '204'],
    ],
    async see(host, surface) {
      const { bearer, nextCode } = await enrolled(host, surface)
      const at = (path: string): string => `/v1/auth/${surface}${path}`
      const body = { method: 'totp', code: await nextCode() }
      await host.send('POST', at('/step-up'), { bearer, body })
      await host.clock.advance(minute + second)
      return outcomeOf(await host.send('DELETE', at('/mfa/totp'), { bearer }))
    },
  },
}
