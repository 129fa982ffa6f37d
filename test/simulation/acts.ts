import type { Operation } from './history.js'
import { ask } from './replica.js'
import { newPassword, type Person, replicaAt, type World } from './world.js'

/** What a person is about to do. */
export interface Act {
  readonly operation: Operation
  /** A mailed link; empty for every other act. */
  readonly link: string
  /** The password that is to be; empty where none is set. */
  readonly password: string
}

export interface Reply {
  readonly status: number
  readonly body: string | null
}

const plain = (operation: Operation): Act => ({ operation, link: '', password: '' })

/** What this person does next; null where there is nothing to do. */
export function drawAct(world: World, who: Person): Act | null {
  switch (who.kind) {
    case 'administrator':
      return administratorsAct(world)
    case 'mailbox':
      return mailboxAct(world, who)
    case 'thief':
      return who.actor === 'mail thief' ? mailboxAct(world, who) : thiefsAct(world, who)
    case 'device':
      return plain(deviceOperation(world, who))
  }
}

function administratorsAct({ draw, step, steps }: World): Act | null {
  const at = draw.below(1000)
  if (at < 40) return plain('endAll')
  if (at < 60 && step > steps * 0.6) return plain('disable')
  return at < 200 ? plain('enable') : null
}

/** Mostly the newest link, now and then an older one, whether it was used or not. */
function mailboxAct(world: World, who: Person): Act | null {
  const links = world.mails.filter(({ owner }) => owner === who.owner.name)
  const share = who.kind === 'thief' ? 0.1 : 0.2
  if (links.length === 0 || !world.draw.chance(share)) return null
  const back = world.draw.chance(0.7) ? 1 : 1 + world.draw.below(links.length)
  const link = links[links.length - back]?.token ?? ''
  return { operation: 'reset', link, password: newPassword(world, who.owner, who.actor) }
}

function thiefsAct(world: World, who: Person): Act | null {
  const { draw, people } = world
  if (who.session === '' || draw.chance(0.1)) {
    const from = people.filter(({ kind, session }) => kind === 'device' && session !== '')
    const victim = from[draw.below(from.length || 1)]
    if (victim === undefined) return null
    const { owner, access, refresh, session } = victim
    Object.assign(who, { owner, access, refresh, session })
  }
  return plain(draw.chance(0.6) ? 'me' : 'refresh')
}

function deviceOperation({ draw }: World, { session }: Person): Operation {
  if (session === '') return draw.chance(0.9) ? 'login' : 'forgot'
  const at = draw.below(100)
  if (at < 38) return 'me'
  if (at < 73) return 'refresh'
  if (at < 79) return 'logout'
  if (at < 82) return 'logoutEverywhere'
  if (at < 91) return 'change'
  return at < 94 ? 'login' : 'forgot'
}

export async function send(world: World, at: number, who: Person, act: Act): Promise<Reply> {
  const { auth } = replicaAt(world, at)
  const { access: bearer, refresh: refreshToken, owner } = who
  const [password = ''] = owner.passwords
  const { users } = auth.client
  const done = { status: 204, body: null }
  switch (act.operation) {
    case 'login':
      return ask(auth, {
        path: '/mobile/login',
        bearer: '',
        body: { email: owner.email, password },
      })
    case 'refresh':
      return ask(auth, { path: '/refresh', bearer: '', body: { refreshToken } })
    case 'me':
      return ask(auth, { path: '/me', bearer, body: null })
    case 'logout':
      return ask(auth, { path: '/logout', bearer, body: { refreshToken } })
    case 'logoutEverywhere':
      return ask(auth, { path: '/logout', bearer, body: { everywhere: true } })
    case 'change': {
      const body = { currentPassword: password, newPassword: act.password }
      return ask(auth, { path: '/me/password', bearer, body })
    }
    case 'forgot':
      return ask(auth, { path: '/password/forgot', bearer: '', body: { email: owner.email } })
    case 'reset': {
      const body = { token: act.link, newPassword: act.password }
      return ask(auth, { path: '/password/reset', bearer: '', body })
    }
    case 'endAll':
      await auth.client.terminateSessionsOf(owner.id)
      return done
    default:
      await users.update(owner.id, { enabled: act.operation === 'enable' })
      return done
  }
}
