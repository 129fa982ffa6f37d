import { describe, expect, it } from 'vitest'
import { changeSettings, memberOf, oauthHost } from '../contract/oauth/oauth-host.js'
import { type HostKind, memoryHost } from '../support/hosts/hosts.js'
import { eachStore } from '../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  outcomeOf,
  storedIn,
  storedUser,
} from '../support/hosts/open-host.js'
import { goodPassword } from '../support/people/people.js'
import { registerHere, verifyWith } from '../support/people/registration-steps.js'
import { credentials, post, type Squatted, squat, strangers, victim } from './planted.js'

const atGmail = { subject: '77', email: victim, verified: true }

/** The ways to sign in that are switched on when the owner comes. Passwords or a provider always are. */
const settings = {
  'every way': { password: true, provider: true, passwordless: true },
  'passwords and a provider': { password: true, provider: true, passwordless: false },
  'passwords and passkeys': { password: true, provider: false, passwordless: true },
  'passwords alone': { password: true, provider: false, passwordless: false },
  'a provider and passkeys': { password: false, provider: true, passwordless: true },
  'a provider alone': { password: false, provider: true, passwordless: false },
} as const
type Setting = keyof typeof settings

/** The owner's first proof of the mailbox, each with the outcome that its request has. */
const proofs = {
  'a link, and the password there is': (squatted: Squatted) => byLink(squatted, strangers),
  'a link, and another password': (squatted: Squatted) => byLink(squatted, goodPassword),
  'a link alone': (squatted: Squatted) => byLink(squatted),
  'a reset': byReset,
  'a provider': byProvider,
} as const
type Proof = keyof typeof proofs

/**
 * What each proof does to an account that was registered with a password:
 * - `retires`: everything that was there before ends, and the owner is in
 * - `keeps`: whoever proves the mailbox knows the password, so all is theirs
 * - else it is refused with this, and all stays as it was
 */
const effects: Readonly<Record<Proof, (on: (typeof settings)[Setting]) => string>> = {
  'a link, and the password there is': ({ password }) => (password ? 'keeps' : 'retires'),
  'a link, and another password': () => 'retires',
  'a link alone': ({ password }) => (password ? '400 password_choice_required' : 'retires'),
  'a reset': ({ password }) => (password ? 'retires' : '403 password_login_disabled'),
  'a provider': ({ provider }) => (provider ? 'retires' : '403 oauth_provider_disabled'),
}

async function byLink(squatted: Squatted, newPassword?: string): Promise<string> {
  await post(squatted, '/email/verify/resend', { email: victim })
  const token = await mailedToken(squatted.host, 'verifyEmail', victim)
  const named = newPassword === undefined ? {} : { newPassword }
  return outcomeOf(await post(squatted, '/email/verify', { token, ...named }))
}

async function byReset(squatted: Squatted): Promise<string> {
  const asked = await post(squatted, '/password/forgot', { email: victim })
  if (asked.status !== 202) return outcomeOf(asked)
  const token = await mailedToken(squatted.host, 'resetPassword', victim)
  return outcomeOf(await post(squatted, '/password/reset', { token, newPassword: goodPassword }))
}

async function byProvider({ host }: Squatted): Promise<string> {
  const started = await host.startWeb('client', 'google')
  if (started.status !== 302) return outcomeOf(started)
  const back = await host.signIn('client', 'google', atGmail)
  return memberOf(back, 'error') || 'in'
}

/** The account, what was planted on it, and then the settings in which its owner comes. */
async function open(kind: HostKind, credential: string, setting: Setting) {
  const host = await oauthHost(
    { settings: { emailVerificationRequired: false }, authorizer: { check: async () => true } },
    kind,
  )
  const squatted = await squat(host)
  const planted = await credentials[credential]?.plant(squatted)
  const { password, provider, passwordless } = settings[setting]
  await changeSettings(host, {
    googleClientEnabled: String(provider),
    passwordLoginClientEnabled: String(password),
    webauthnMode: passwordless ? 'passwordless' : 'off',
  })
  host.mailer.clear()
  return { squatted, planted }
}

/** How the owner gets in afterwards: by the password they named, or by the provider. */
async function waysIn(squatted: Squatted): Promise<readonly string[]> {
  const { host } = squatted
  const login = await post(squatted, '/login', { email: victim, password: goodPassword })
  const started = await host.startWeb('client', 'google')
  const back = started.status === 302 ? await host.signIn('client', 'google', atGmail) : null
  const provider = back !== null && memberOf(back, 'error') === '' ? ['a provider'] : []
  return [...(login.status === 200 ? ['the password'] : []), ...provider]
}

interface Cell {
  readonly credential: string
  readonly proof: Proof
  readonly setting: Setting
}

const keysOf = <K extends string>(record: Readonly<Record<K, unknown>>) =>
  Object.keys(record) as K[]

const cells: readonly Cell[] = keysOf(credentials).flatMap((credential) =>
  keysOf(proofs).flatMap((proof) =>
    keysOf(settings).map((setting) => ({ credential, proof, setting })),
  ),
)

/** All cells in memory, where it costs nothing to open a host; of the others, some on each database. */
const strides: readonly (readonly [string, number])[] = [
  ['memory', 1],
  ['postgres', 11],
]
const walks = eachStore.cells.map((kind) => {
  const [, stride] = strides.find(([name]) => kind.name.endsWith(name)) ?? ['', 29]
  return { kind, cells: cells.filter((_, n) => n % stride === 0) }
})

describe.each(walks)(
  'what a stranger planted, once the owner proved the mailbox [$kind.name]',
  (walk) => {
    it.each(walk.cells.map((cell) => [cell.credential, cell.proof, cell.setting, cell] as const))(
      '%s; by %s; %s',
      async (name, proof, setting, cell) => {
        const { squatted, planted } = await open(walk.kind, name, cell.setting)
        const on = settings[setting]
        const effect = effects[proof](on)
        const done = await proofs[proof](squatted)
        const isRefused = effect !== 'retires' && effect !== 'keeps'
        if (isRefused) expect(done).toBe(effect)
        else expect(['200', '204', 'in']).toContain(done)

        const credential = credentials[name]
        const state = effect === 'retires' ? 'dead' : 'alive'
        const switchedOff = on.password ? undefined : credential?.off?.[state]
        expect(await planted?.use()).toBe(switchedOff ?? credential?.[state])
      },
    )
  },
)

describe('the owner of the mailbox', () => {
  const all = keysOf(proofs).flatMap((proof) =>
    keysOf(settings).map((setting) => [proof, setting] as const),
  )

  it.each(all)('is not locked out by what was planted: %s; %s', async (proof, setting) => {
    const { squatted } = await open(memoryHost, 'the password', setting)
    const on = settings[setting]
    const effect = effects[proof](on)
    await proofs[proof](squatted)
    const isProved = effect === 'retires' || effect === 'keeps'
    const { emailVerifiedAt } = await storedUser(squatted.host, 'client', victim)
    expect(emailVerifiedAt !== null).toBe(isProved)
    const handedOver = effect === 'retires' ? 1 : 0
    expect(eventsOf(squatted.host, 'account.ownerProved')).toHaveLength(handedOver)
    // Where this proof was refused, another one is the way.
    if (!isProved) {
      const other = on.password ? await byReset(squatted) : await byProvider(squatted)
      expect(['204', 'in']).toContain(other)
    }
    if (effect === 'keeps') {
      const login = await post(squatted, '/login', { email: victim, password: strangers })
      expect(login.status).toBe(200)
    } else {
      expect(await waysIn(squatted)).not.toEqual([])
    }
  })
})

describe('what a stranger registered and nobody confirmed', () => {
  const begun: Readonly<Record<string, (squatted: Squatted) => Promise<string>>> = {
    'signs up by a provider': byProvider,
    async 'names a password with the link'(squatted) {
      const token = await mailedToken(squatted.host, 'verifyEmail', victim)
      const shown = { token, newPassword: goodPassword }
      return outcomeOf(await verifyWith(squatted.host, 'client', shown))
    },
    async 'is given an account by the host'({ host }) {
      const given = { email: victim, password: goodPassword, emailVerified: true }
      await host.auth.client.users.create(given)
      return 'in'
    },
  }

  it.each(Object.entries(begun))('opens nothing once the owner %s', async (_how, begin) => {
    const host = await oauthHost()
    const mine = { email: victim, password: strangers, name: 'Mallory' }
    const { cookie } = await registerHere(host, 'client', mine)
    expect(['200', 'in']).toContain(await begin({ host, bearer: '', cookie: '' }))
    const { name, id } = await storedUser(host, 'client', victim)
    expect(name).not.toBe('Mallory')
    const login = await post({ host }, '/login', { email: victim, password: strangers }, { cookie })
    expect(outcomeOf(login)).toBe('403 email_not_verified')
    // Nor does a link that comes late, wherever it is opened.
    await host.clock.advance(60 * 60_000)
    await registerHere(host, 'client', mine, cookie)
    await host.auth.close()
    expect(host.mailer.sent.at(-1)).toMatchObject({ to: victim, template: 'accountExists' })
    const found = await storedIn(host, 'client').users.find({ email: victim }, { limit: 2 })
    expect(found.map((user) => user.id)).toEqual([id])
  })
})
