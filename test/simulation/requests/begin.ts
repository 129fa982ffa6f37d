import { actors, isForeign } from '../actors/index.js'
import { claimsOf } from '../claims-of.js'
import type { Beginning } from '../decision.js'
import type { Exchange, Operation } from '../history.js'
import { editOf } from '../shop.js'
import { keepSecret, type Person, type World } from '../world.js'
import { finish } from './finish.js'
import { codeAtStep, type Prepared, prepared } from './prepared.js'
import { type Reply, send } from './send.js'

const byCookie: ReadonlySet<Operation> = new Set(['view', 'tabRefresh', 'tabLogout'])
const byBearer: ReadonlySet<Operation> = new Set(['me', 'logout', 'logoutEverywhere', 'change'])

/** The token that a request shows; empty without one. */
function tokenOf({ access, refresh, jar }: Person, operation: Operation): string {
  if (operation === 'refresh') return refresh
  if (byCookie.has(operation)) return jar.cookie.slice(jar.cookie.indexOf('=') + 1)
  return byBearer.has(operation) ? access : ''
}

/** What an editor asks for; null of others. */
function editIn({ operation, pick, request }: Beginning, { revision }: Person): Exchange['edit'] {
  if (operation === 'lookAtShop') return { kind: 'read' }
  return operation === 'editShop' ? editOf(pick, request, revision) : null
}

function exchangeOf(
  world: World,
  who: Person,
  beginning: Beginning,
  { shows, sets }: Prepared,
): Exchange {
  const { operation, replica } = beginning
  const token = tokenOf(who, operation)
  const shown = claimsOf(token)
  const isOnce = operation === 'refresh' || operation === 'tabRefresh'
  const secret = operation === 'second' ? codeAtStep(shows, world.clock.now()) : shows
  return {
    actor: who.actor,
    foreign: isForeign(who.kind),
    stolen: actors[who.kind].stolen?.[operation] ?? null,
    owner: who.owner.name,
    request: beginning.request,
    operation,
    replica,
    edit: editIn(beginning, who),
    session: shown === null ? '' : shown.sid,
    shown,
    spends: isOnce ? token : secret,
    ticket: operation === 'second' ? who.ticket : '',
    sets,
    begun: world.step,
    begunAt: world.clock.now(),
    ended: null,
    endedAt: 0,
    status: 0,
    code: '',
    body: '',
    issued: null,
    lost: false,
    known: operation === 'refresh' ? who.recognition !== '' : who.jar.recognition !== '',
    struck: false,
  }
}

/** Somebody begins something, unless there is nothing to do it with. */
export function begin(world: World, beginning: Beginning): void {
  const { operation, replica, request, pick } = beginning
  const who = world.people.find(({ actor }) => actor === beginning.actor)
  if (who === undefined || who.request !== null) return
  if (who.kind === 'administrator') {
    const known = world.owners.filter(({ id }) => id !== '')
    who.owner = known[pick % known.length] ?? who.owner
  }
  const taken = prepared(world, who, beginning)
  if (taken === null) return
  world.requests += 1
  const exchange = exchangeOf(world, who, beginning, taken)
  const { edit } = exchange
  if (edit?.kind === 'seal') keepSecret(world, who.owner.name, edit.text)
  // What is being typed in may be read over a shoulder.
  if (operation === 'second') who.code = exchange.foreign ? '' : taken.shows
  world.exchanges.push(exchange)
  world.byRequest.set(request, exchange)
  who.request = request
  who.exchange = exchange
  const end = (reply: Reply): void => {
    // A killed request is answered to no one.
    if (who.request !== request) return
    who.request = null
    finish(world, who, { exchange, beginning, reply })
  }
  void world.scheduler
    .within(request, () => send(world, replica, operation, { who, prepared: taken, edit }))
    .then(end, (error: unknown) => end(refusalOf(error)))
}

/** What a call in the process comes to. */
function refusalOf(error: unknown): Reply {
  const [status, code]: readonly unknown[] = [
    Reflect.get(Object(error), 'status'),
    Reflect.get(Object(error), 'code'),
  ]
  const isRefusal = typeof status === 'number'
  return {
    status: isRefusal ? status : 503,
    body: isRefusal ? JSON.stringify({ code }) : null,
    cookies: [],
  }
}
