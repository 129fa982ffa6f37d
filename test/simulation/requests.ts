import { type Act, drawAct, type Reply, send } from './acts.js'
import { claimsOf } from './claims-of.js'
import type { Exchange } from './history.js'
import { newPassword, type Person, type World } from './world.js'

interface Grant {
  readonly accessToken?: string
  readonly refreshToken?: string
  readonly code?: string
}

const withoutSession = new Set(['login', 'forgot', 'reset', 'disable', 'enable', 'endAll'])

function exchangeOf(world: World, who: Person, { operation, link }: Act): Exchange {
  const token = operation === 'refresh' ? who.refresh : who.access
  const hasToken = !withoutSession.has(operation)
  return {
    actor: who.actor,
    owner: who.owner.name,
    operation,
    session: hasToken ? who.session : '',
    shown: hasToken ? claimsOf(token) : null,
    spends: operation === 'refresh' ? who.refresh : link,
    begun: world.step,
    begunAt: world.clock.now(),
    ended: null,
    endedAt: 0,
    status: 0,
    code: '',
    body: '',
    issued: null,
    struck: false,
  }
}

/** A person begins something, unless there is nothing to do. */
export function begin(world: World, who: Person): void {
  if (who.kind === 'administrator') {
    who.owner = world.owners[world.draw.below(world.owners.length)] ?? who.owner
  }
  const drawn = drawAct(world, who)
  if (drawn === null) return
  const setsOwn = drawn.operation === 'change'
  const act = setsOwn ? { ...drawn, password: newPassword(world, who.owner, who.actor) } : drawn
  const at = world.draw.below(world.replicas.length)
  world.requests += 1
  const request = `r${at} q${String(world.requests).padStart(6, '0')}`
  const exchange = exchangeOf(world, who, act)
  world.exchanges.push(exchange)
  who.request = request
  who.exchange = exchange
  world.tell(`${request} ${who.actor} ${act.operation}`)
  const done = (reply: Reply): void => {
    // A killed request answers nobody.
    if (who.request !== request) return
    finish(world, who, { exchange, act, reply })
    who.request = null
  }
  void world.scheduler
    .within(request, () => send(world, at, who, act))
    .then(done, () => done({ status: 503, body: null }))
}

interface Finished {
  readonly exchange: Exchange
  readonly act: Act
  readonly reply: Reply
}

function finish(world: World, who: Person, { exchange, act, reply }: Finished): void {
  const { status, body } = reply
  if (world.step >= world.steps) return
  const told: Grant = body ? JSON.parse(body) : {}
  Object.assign(exchange, {
    ended: world.step,
    endedAt: world.clock.now(),
    status,
    code: told.code ?? '',
    body: body ?? '',
    issued: claimsOf(told.refreshToken ?? ''),
    // What was not answered in time may be carried out later.
    struck: exchange.struck || status >= 500,
  })
  world.tell(`${who.request} ${status} ${exchange.code} ${exchange.issued?.jti ?? ''}`)
  if (told.accessToken && told.refreshToken) {
    who.access = told.accessToken
    who.refresh = told.refreshToken
    who.session = exchange.issued?.sid ?? ''
  }
  remember(who, act, exchange)
  // An owner asks a few times more with what was ended, as a tab does that was not told.
  const isOut = who.kind === 'device' && (status === 401 || status === 403)
  if (isOut && world.draw.chance(0.4)) who.session = ''
}

const mostRemembered = 6

/** The owner remembers what was set, and what may have been. */
function remember({ owner, kind }: Person, act: Act, { status }: Exchange): void {
  const { passwords } = owner
  if (act.operation === 'login' && status === 401) passwords.push(passwords.shift() ?? '')
  if (act.password === '' || kind === 'thief' || (status >= 400 && status < 500)) return
  passwords.splice(status === 204 ? 0 : 1, 0, act.password)
  passwords.splice(mostRemembered)
}
