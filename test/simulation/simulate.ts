import { createHash } from 'node:crypto'
import { memory } from '../../adapters/memory/index.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Auth } from '../../src/setup/auth.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { type Drawn, drawn } from './drawn.js'
import type { Exchange, Operation } from './history.js'
import { ask, replica } from './replica.js'
import { type Scheduler, scheduler } from './scheduler.js'
import { synchronousSigning } from './synchronous-signing.js'

export interface History {
  readonly steps: number
  readonly exchanges: readonly Exchange[]
  /** SHA-256 of every decision and reply. */
  readonly trace: string
}

interface Person {
  readonly actor: string
  access: string
  refresh: string
  session: string
  request: string | null
  exchange: Exchange | null
}

interface World {
  readonly draw: Drawn
  readonly replicas: readonly [Auth, Auth, Auth]
  readonly people: readonly Person[]
  readonly exchanges: Exchange[]
  readonly scheduler: Scheduler
  readonly tell: (line: string) => void
  password: string
  /** What the owner tried to change to, and was not told about. */
  tried: string
  readonly steps: number
  step: number
  requests: number
  readonly userId: string
}

const email = 'ada@example.org'
const firstPassword = 'correct horse battery staple'
const devices = ['phone', 'laptop'] as const

function person(actor: string): Person {
  return { actor, access: '', refresh: '', session: '', request: null, exchange: null }
}

function sessionOf(access: string): string {
  const claims: unknown = JSON.parse(
    Buffer.from(access.split('.')[1] ?? '', 'base64url').toString() || '{}',
  )
  return typeof claims === 'object' && claims !== null && 'sid' in claims ? String(claims.sid) : ''
}

function operationOf({ draw }: World, who: Person): Operation {
  if (who.actor === 'administrator') return 'disable'
  if (who.actor === 'thief') return draw.chance(0.6) ? 'me' : 'refresh'
  if (who.session === '') return 'login'
  const at = draw.below(100)
  if (at < 45) return 'me'
  if (at < 80) return 'refresh'
  if (at < 88) return 'logout'
  if (at < 92) return 'logoutEverywhere'
  return at < 96 ? 'change' : 'login'
}

interface Reply {
  readonly status: number
  readonly body: string | null
}

async function send(world: World, auth: Auth, who: Person, operation: Operation): Promise<Reply> {
  const { access: bearer, refresh: refreshToken } = who
  const { password } = world
  switch (operation) {
    case 'login':
      return ask(auth, { path: '/mobile/login', bearer: '', body: { email, password } })
    case 'refresh':
      return ask(auth, { path: '/refresh', bearer: '', body: { refreshToken } })
    case 'me':
      return ask(auth, { path: '/me', bearer, body: null })
    case 'logout':
      return ask(auth, { path: '/logout', bearer, body: { refreshToken } })
    case 'logoutEverywhere':
      return ask(auth, { path: '/logout', bearer, body: { everywhere: true } })
    case 'disable':
      await auth.client.users.update(world.userId, { enabled: false })
      return { status: 204, body: null }
    default: {
      const newPassword = `${firstPassword} ${world.requests}`
      const body = { currentPassword: password, newPassword }
      const reply = await ask(auth, { path: '/me/password', bearer, body })
      if (reply.status === 204) world.password = newPassword
      else world.tried = newPassword
      return reply
    }
  }
}

interface Grant {
  readonly accessToken?: string
  readonly refreshToken?: string
  readonly code?: string
}

function finish(world: World, who: Person, exchange: Exchange, { status, body }: Reply): void {
  const told: Grant = body ? JSON.parse(body) : {}
  if (world.step >= world.steps) return
  exchange.ended = world.step
  exchange.status = status
  exchange.code = told.code ?? ''
  exchange.issued = told.accessToken ? sessionOf(told.accessToken) : ''
  world.tell(`${who.request} ${exchange.operation} ${status} ${exchange.code} ${exchange.issued}`)
  if (told.accessToken && told.refreshToken) {
    who.access = told.accessToken
    who.refresh = told.refreshToken
    who.session = exchange.issued
  }
  if (exchange.operation === 'login' && status === 401 && world.tried !== '') {
    const { password, tried } = world
    Object.assign(world, { password: tried, tried: password })
  }
  // An owner asks a few times more with what was ended, as a tab does that was not told.
  if (who.actor !== 'thief' && (status === 401 || status === 403) && world.draw.chance(0.4)) {
    who.session = ''
  }
}

function begin(world: World, who: Person): void {
  const { draw } = world
  if (who.actor === 'thief' && (who.session === '' || draw.chance(0.1))) {
    const [phone, laptop] = world.people
    const from = draw.chance(0.5) ? phone : laptop
    Object.assign(who, { access: from?.access, refresh: from?.refresh, session: from?.session })
    if (who.session === '') return
  }
  const operation = operationOf(world, who)
  const at = draw.below(3)
  world.requests += 1
  const request = `r${at} q${String(world.requests).padStart(6, '0')}`
  const exchange: Exchange = {
    actor: who.actor,
    operation,
    session: operation === 'login' || operation === 'disable' ? '' : who.session,
    spends: operation === 'refresh' ? who.refresh : '',
    begun: world.step,
    ended: null,
    status: 0,
    code: '',
    issued: '',
    struck: false,
  }
  world.exchanges.push(exchange)
  who.request = request
  who.exchange = exchange
  const auth = world.replicas[at] ?? world.replicas[0]
  const done = (reply: Reply): void => {
    // A killed request answers nobody.
    if (who.request !== request) return
    finish(world, who, exchange, reply)
    who.request = null
  }
  void world.scheduler
    .within(request, () => send(world, auth, who, operation))
    .then(done, () => done({ status: 503, body: null }))
}

/** One decision: a person begins, a call is released, fails or is killed. */
function decide(world: World): void {
  const { draw, people } = world
  const { held } = world.scheduler
  const idle = people.filter(
    ({ request, actor }) =>
      request === null &&
      (actor !== 'administrator' || draw.chance(world.step > world.steps * 0.8 ? 0.02 : 0)),
  )
  const at = draw.below(held.length + idle.length || 1)
  const call = held[at]
  if (call === undefined) {
    const who = idle[at - held.length]
    world.tell(`begin ${who?.actor}`)
    if (who) begin(world, who)
    return
  }
  const owner = people.find(({ request }) => request === call.request)
  if (owner?.exchange && draw.chance(0.003)) {
    owner.exchange.struck = true
    world.tell(`kill ${call.key}`)
    world.scheduler.drop(call.request)
    owner.request = null
    return
  }
  const fails = draw.chance(0.01)
  if (fails && owner?.exchange) owner.exchange.struck = true
  const how = fails ? (call.phase === 'start' ? 'before' : 'lost') : 'go'
  world.tell(`${how} ${call.key} ${call.name}`)
  call.release(how)
}

/** Plays one history. `around` stands between the replicas and the store, to plant a mistake. */
export async function simulate(
  seed: number,
  steps: number,
  around: (backend: Backend) => Backend = (backend) => backend,
): Promise<History> {
  const restore = synchronousSigning()
  try {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const held = scheduler()
    const backend = held.backendOf(around(memory()))
    const start = (name: string) => replica(backend, clock, `${seed} ${name}`)
    const replicas = [await start('a'), await start('b'), await start('c')] as const
    const { id: userId } = await replicas[0].client.users.create({
      email,
      password: firstPassword,
      emailVerified: true,
    })
    const hash = createHash('sha256')
    const world: World = {
      draw: drawn(seed),
      replicas,
      people: [...devices, 'thief', 'administrator'].map(person),
      exchanges: [],
      scheduler: held,
      tell: (line) => hash.update(`${line}\n`),
      password: firstPassword,
      tried: '',
      steps,
      step: 0,
      requests: 0,
      userId,
    }
    for (; world.step < steps; world.step += 1) {
      await held.quiet()
      if (world.draw.chance(0.02)) {
        const ms = world.draw.pick([1, 500, 4000, 11_000])
        world.tell(`advance ${ms}`)
        await clock.advance(ms)
      } else decide(world)
    }
    return { steps, exchanges: world.exchanges, trace: hash.digest('hex') }
  } finally {
    restore()
  }
}
