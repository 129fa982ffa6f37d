import { closeSync, openSync, writeSync } from 'node:fs'
import type { ExchangeReply } from '../../src/index.js'
import { drawn } from '../simulation/drawn.js'
import { synchronousSigning } from '../simulation/synchronous-signing.js'
import { type Agent, type Asked, learn, liveToken, oneOf, startWorld, type World } from './cast.js'
import { hostCalls } from './host-calls.js'
import { renaming } from './random-names.js'
import { type Drawing, drawing, type Operation, operationsOf } from './requests.js'
import { type Library, loadLibrary, origins, rigNames, startRig, type Told } from './rigs.js'
import { spoiled } from './spoil.js'

/** Requests of one history: a difference changes all that comes later in it. */
const longest = 500

/** What an honest agent sends. */
function asked(world: World, agent: Agent, operation: Operation, made: Drawing): Asked {
  const { person, isApp, jar, address } = agent
  const { params, query, body, authorization } = made
  const { id, method, path, bearer, isForm } = operation
  const origin = origins[person.surface]
  const isMachine = path.startsWith('/v1/admin') && world.draw.chance(0.2)
  const token = isMachine ? world.machineToken : liveToken(world, agent)
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const hasBody = body !== null
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    ...{ operation: id, method, address, query: new URLSearchParams(query).toString() },
    path: path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? '')),
    headers: {
      ...{ host: new URL(origin).host, 'user-agent': isApp ? 'App/3 (Phone)' : 'Browser/1' },
      ...(isApp ? { 'x-token-delivery': 'body' } : { origin, 'sec-fetch-site': 'same-origin' }),
      ...(cookie !== '' && { cookie }),
      ...(hasBody && { 'content-type': type }),
      ...(bearer !== 'none' && token !== null && { authorization: `Bearer ${token}` }),
      ...(authorization !== undefined && { authorization }),
      ...(world.draw.chance(0.2) && { 'accept-language': 'de-AT,en;q=0.5' }),
    },
    body: !hasBody ? null : isForm ? new URLSearchParams({ ...body }).toString() : body,
  }
}

async function send({ auth }: World, request: Asked): Promise<ExchangeReply> {
  const { method, path, query, headers, address, body } = request
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await auth.both.handle({
    ...{ method, path, query, header: (name: string) => headers[name], remoteAddress: address },
    body: async () =>
      body === null ? { kind: 'empty' } : { kind: 'bytes', bytes: Buffer.from(text) },
  })
  return reply ?? { status: 0, headers: {}, cookies: [], body: null }
}

/** A reply as it is compared: the order of its headers says nothing. */
const shown = ({ status, headers, cookies, body }: ExchangeReply): object => ({
  ...{ status, headers: Object.entries(headers).sort(), cookies },
  body: body?.startsWith('{') ? JSON.parse(body) : body,
})

/** Until nothing is heard any more of what was begun beside the request. */
async function settle(told: Told): Promise<void> {
  const heard = () => Object.values(told).reduce((sum, { length }) => sum + length, 0)
  for (let [quiet, before] = [0, -1]; quiet < 6; quiet += 1) {
    if (heard() !== before) quiet = 0
    before = heard()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Mostly moments; now and then past the grace, past an access token, past the idle end. */
function pause({ draw }: World): number {
  const at = draw.below(1000)
  if (at < 650) return draw.below(3 * second)
  if (at < 950) return draw.below(35 * second)
  if (at < 990) return draw.below(8 * minute)
  return at < 998 ? draw.below(5 * hour) : draw.below(9 * 24 * hour)
}

/** A request, and who sent it. */
type Sent = readonly [agent: Agent, request: Asked]

/** What an agent sends at an operation, now and then spoiled; null where it cannot, or would not now. */
function tried(world: World, agent: Agent, operation: Operation): Sent | null {
  const { surface, bearer } = operation
  const isOwn = surface === null || agent.person.surface === surface
  if (!isOwn || (bearer === 'needed' && liveToken(world, agent) === null)) return null
  const made = drawing(world, agent, operation)
  if (made === null) return null
  const honest = asked(world, agent, operation, made)
  return [agent, world.draw.chance(0.8) ? honest : spoiled(world, honest)]
}

/** Something new. Whoever sent the last request often goes on. */
function newRequest(world: World, operations: readonly Operation[], last?: Agent): Sent {
  const { agents, draw } = world
  const before = draw.chance(0.5) ? last : undefined
  for (;;) {
    const operation = oneOf(world, operations)
    const begin = draw.below(agents.length)
    const all = [...agents.slice(begin), ...agents.slice(0, begin)]
    const asking = before !== undefined && draw.chance(0.9) ? [before] : all
    for (const agent of asking) {
      const sent = tried(world, agent, operation)
      if (sent !== null) return sent
    }
  }
}

async function callStep(world: World): Promise<object> {
  const [operation, call] = oneOf(world, Object.entries(hostCalls))
  const agent = oneOf(world, world.agents)
  const reply = await Promise.resolve()
    .then(() => call(world, agent))
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ thrown: String(error), ...Object(error) }),
    )
  return { operation, request: null, reply: JSON.parse(JSON.stringify(reply)) }
}

/** A call in code, one of the last requests once more, the last one again and again, or a new one. */
async function stepOf(
  world: World,
  operations: readonly Operation[],
  past: Sent[],
): Promise<object> {
  const { draw } = world
  world.streak = Math.max(0, draw.chance(0.005) ? 14 : world.streak - 1)
  if (draw.chance(0.1)) return callStep(world)
  const isAgain = past.length > 0 && (world.streak > 0 || draw.chance(0.1))
  const again = (): Sent => oneOf(world, past.slice(world.streak > 0 ? -1 : -12))
  const sent = isAgain ? again() : newRequest(world, operations, past.at(-1)?.[0])
  past.push(sent)
  const [agent, request] = sent
  const reply = await send(world, request)
  learn(world, agent, request, reply)
  return { operation: request.operation, request, reply: shown(reply) }
}

/** Plays a history, a line for each step. */
async function play(
  library: Library,
  { seed, steps, salt }: { readonly seed: number; readonly steps: number; readonly salt: string },
  write: (line: object) => void,
): Promise<void> {
  const name = rigNames[seed % rigNames.length] ?? 'default'
  const signingKey = process.env['TEST_SIGNING_KEY'] ?? ''
  const rig = await startRig(library, name, { seed: `${salt} ${seed}`, signingKey })
  const world = await startWorld(rig, drawn(seed))
  const operations = operationsOf(library.openApiDocument())
  const renamed = renaming()
  const past: Sent[] = []
  for (let step = 0; step < steps; step += 1) {
    await world.clock.advance(pause(world))
    const done = await stepOf(world, operations, past)
    await settle(world.told)
    for (const { surface, template, to, data } of world.told.mails) {
      if ('token' in data) world.links.push({ surface, template, to, token: data.token })
    }
    write(Object(renamed({ seed, step, rig: name, ...done, told: world.told })))
    for (const list of Object.values(world.told)) list.splice(0)
  }
  await world.auth.close()
}

async function main([root = '', file = '', seed = '1', steps = '1000']: readonly string[]) {
  synchronousSigning()
  const library = await loadLibrary(root)
  const out = openSync(file, 'w')
  const write = (line: object): void => void writeSync(out, `${JSON.stringify(line)}\n`)
  for (let left = Number(steps), own = Number(seed); left > 0; left -= longest, own += 1) {
    await play(library, { seed: own, steps: Math.min(left, longest), salt: file }, write)
  }
  closeSync(out)
}

await main(process.argv.slice(2))
