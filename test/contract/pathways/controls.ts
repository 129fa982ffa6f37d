import type { Surface } from '../../../src/ports/surface.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Enrolled, enrolled } from '../../support/people/authenticator.js'
import { otherPassword } from '../../support/people/people.js'
import type { SettingsHost } from '../settings/settings-host.js'

/** Something that must hold on every way to tokens. */
interface Control {
  readonly options?: HostOptions
  /** Who walks; a plain person by default. */
  readonly who?: (host: SettingsHost, surface: Surface) => Promise<Enrolled>
  /** Comes in force before the last step. */
  readonly enforce?: (
    host: SettingsHost,
    surface: Surface,
    userId: string,
    email: string,
  ) => Promise<void>
  /** The last step is sent to the other surface. */
  readonly elsewhere?: true
  /** The last step is sent again and again from one address; the last reply counts. */
  readonly times?: number
}

const guesses = 3
const scarce = { limit: 4, windowMs: 60_000 }
const rateLimits = {
  ...withoutLimits.surfaces.client.rateLimits,
  ...{ registerPerIp: scarce, recoveryPerIp: scarce, confirmPerIp: scarce },
  ...{ refreshPerIp: scarce, oauthPerIp: scarce, grantPerIp: scarce },
  ...{ mfaPerIp: { limit: 8, windowMs: 60_000 } },
  // A person needs some to enroll.
  mfaPerSession: { limit: 8, windowMs: 60_000 },
}

/** Past every check of the library. */
async function changeUser(
  host: SettingsHost,
  surface: Surface,
  id: string,
  set: { readonly kind: 'service' } | { readonly emailVerifiedAt: null },
): Promise<void> {
  const { users } = storedIn(host, surface)
  const user = await users.get(id)
  const changed = user && (await users.update(id, { email: user.email }, set))
  if (changed === null) throw new Error('no such user')
}

export const controls = {
  nothing: {},
  'a second factor': { who: enrolled },
  'a policy that wants a second factor': {
    async enforce(host) {
      await host.set({ config: { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } })
    },
  },
  'a disabled account': {
    async enforce(host, surface, id) {
      await host.auth[surface].users.update(id, { enabled: false })
    },
  },
  'a service principal': {
    enforce: (host, surface, id) => changeUser(host, surface, id, { kind: 'service' }),
  },
  'an unverified address': {
    enforce: (host, surface, id) => changeUser(host, surface, id, { emailVerifiedAt: null }),
  },
  'guesses at the password used up': {
    options: { settings: { lockoutThreshold: guesses } },
    async enforce(host, surface, _id, email) {
      for (let guess = 0; guess < guesses; guess += 1) {
        const body = { email, password: otherPassword }
        await host.send('POST', `/v1/auth/${surface}/login`, { body })
      }
    },
  },
  'requests used up': {
    options: {
      surfaces: {
        operator: { ...withoutLimits.surfaces.operator, rateLimits },
        client: { ...withoutLimits.surfaces.client, rateLimits },
      },
      settings: { loginRateOperator: 4, loginRateClient: 4 },
    },
    times: 9,
  },
  'the other surface': { elsewhere: true },
} as const satisfies Readonly<Record<string, Control>>

export type ControlName = keyof typeof controls

/** The same with the optional members readable. */
export const controlOf = (name: ControlName): Control => controls[name]
