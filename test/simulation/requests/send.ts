import { authModuleName } from '../../../src/settings/settings.js'
import type { Exchange, Operation } from '../history.js'
import { ask, type Door } from '../replica.js'
import { changeOf, shop } from '../shop.js'
import { type Person, replicaAt, revealed, type World } from '../world.js'
import type { Prepared } from './prepared.js'

export interface Reply {
  readonly status: number
  readonly body: string | null
  readonly cookies: readonly string[]
}

interface Sending {
  readonly who: Person
  readonly prepared: Prepared
  readonly edit: Exchange['edit']
  readonly door: Door
  readonly world: World
}

type Send = (sending: Sending) => Promise<Reply>

const done: Reply = { status: 204, body: null, cookies: [] }

const recognised = (recognitionId: string): object => (recognitionId ? { recognitionId } : {})

const mobile =
  (path: string): Send =>
  ({ who: { owner }, prepared: { shows: password }, door }) =>
    ask(door, { path, body: { email: owner.email, password } })

const withBearer =
  (path: string, bodyOf: (sending: Sending) => object | null): Send =>
  (sending) =>
    ask(sending.door, { path, bearer: sending.who.access, body: bodyOf(sending) })

const withCookie =
  (path: string, method: 'GET' | 'POST'): Send =>
  ({ who: { jar }, door }) =>
    ask(door, { path, method, cookie: `${jar.cookie}; ${jar.recognition}`, body: null })

const byOwner =
  (work: (sending: Sending) => Promise<unknown>): Send =>
  async (sending) => {
    await work(sending)
    return done
  }

const told = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body), cookies: [] })

/** The login by password of the client surface, and what hangs on it. */
const passwords =
  (isOpen: boolean): Send =>
  async ({ door }) =>
    told(
      await door.auth.config.change(authModuleName, {
        config: { passwordLoginClientEnabled: String(isOpen) },
      }),
    )

const sends: Readonly<Record<Operation, Send>> = {
  login: mobile('/mobile/login'),
  tabLogin: mobile('/login'),
  second: ({ who: { ticket: mfaToken }, prepared: { shows: code }, door }) =>
    ask(door, {
      path: '/login/mfa',
      body: { mfaToken, method: code.length > 6 ? 'backupCode' : 'totp', code },
    }),
  refresh: ({ who: { refresh: refreshToken, recognition }, door }) =>
    ask(door, { path: '/refresh', body: { refreshToken, ...recognised(recognition) } }),
  me: withBearer('/me', () => null),
  logout: withBearer('/logout', ({ who: { refresh: refreshToken, recognition } }) => ({
    refreshToken,
    ...recognised(recognition),
  })),
  logoutEverywhere: withBearer('/logout', () => ({ everywhere: true })),
  change: withBearer('/me/password', ({ prepared: { shows, sets } }) => ({
    currentPassword: shows,
    newPassword: sets,
  })),
  forgot: ({ who: { owner }, door }) =>
    ask(door, { path: '/password/forgot', body: { email: owner.email } }),
  reset: ({ prepared: { shows: token, sets: newPassword }, door }) =>
    ask(door, { path: '/password/reset', body: { token, newPassword } }),
  register: ({ who: { owner }, prepared: { sets: password }, door }) =>
    ask(door, { path: '/register', inBody: true, body: { email: owner.email, password } }),
  verify: ({ who: { ticket }, prepared: { shows: token, sets: newPassword }, door }) =>
    ask(door, {
      path: '/email/verify',
      body: { token, newPassword, ...(ticket && { registrationKey: ticket }) },
    }),
  view: withCookie('/session', 'GET'),
  tabRefresh: withCookie('/refresh-cookie', 'POST'),
  tabLogout: withCookie('/logout', 'POST'),
  grant: ({ who: { credential }, door }) =>
    ask(door, {
      path: '/v1/auth/token',
      body: { grantType: 'client_credentials', ...secretOf(credential) },
    }),
  machineMe: async ({ who: { access }, door }) => {
    await door.auth.operator.authenticate(`Bearer ${access}`)
    return done
  },
  issueSecret: async ({ world, door }) => {
    const issued = await door.auth.operator.serviceAccounts.issueCredential(world.machine.id)
    return { status: 201, body: JSON.stringify(revealed(issued)), cookies: [] }
  },
  revokeSecret: byOwner(({ world, prepared, door }) =>
    door.auth.operator.serviceAccounts.revokeCredential(world.machine.id, prepared.shows),
  ),
  disable: byOwner(({ who, door }) =>
    door.auth.client.users.update(who.owner.id, { enabled: false }),
  ),
  enable: byOwner(({ who, door }) =>
    door.auth.client.users.update(who.owner.id, { enabled: true }),
  ),
  endAll: byOwner(({ who, door }) => door.auth.client.terminateSessionsOf(who.owner.id)),
  lookAtShop: async ({ door }) => told(await door.auth.config.view(shop.name, 'production')),
  editShop: async ({ door, edit }) => {
    if (edit === null || edit.kind === 'read') return done
    return told(await door.auth.config.change(shop.name, changeOf(edit)))
  },
  readShop: async ({ door }) => {
    const { sender, hooks } = await door.auth.config.read(shop)
    return told({ text: sender, roster: hooks.map(({ slug }) => slug) })
  },
  closePasswords: passwords(false),
  openPasswords: passwords(true),
}

function secretOf(credential: Person['credential']): object {
  if (credential === null) return {}
  const { clientId, clientSecret } = credential
  return { clientId, clientSecret }
}

export function send(
  world: World,
  at: number,
  operation: Operation,
  taking: Pick<Sending, 'who' | 'prepared' | 'edit'>,
): Promise<Reply> {
  const { auth } = replicaAt(world, at)
  return sends[operation]({ ...taking, world, door: { auth } })
}
