import { startReplica } from './replica.js'
import { begin } from './requests.js'
import type { Held, Release } from './scheduler.js'
import type { Person, World } from './world.js'

/** How often things go wrong, by the share of decisions. */
const shares = { time: 0.02, restart: 0.0005, kill: 0.003, fault: 0.006 }

const minute = 60_000
const short = [1, 100, 500, 2000, 4000, 11_000] as const
const long = [16 * minute, 3 * 60 * minute, 9 * 24 * 60 * minute] as const

/** One decision: time passes, a replica starts anew, a person begins, or a call is released, fails or is killed. */
export async function decide(world: World): Promise<void> {
  const { draw, people, scheduler, clock, tell } = world
  if (draw.chance(shares.time)) {
    const ms = draw.pick(draw.chance(0.04) ? long : short)
    tell(`advance ${ms}`)
    await clock.advance(ms)
    return
  }
  if (draw.chance(shares.restart)) return restart(world)
  const { held } = scheduler
  // Mailboxes are looked into now and then, and administrators come rarely.
  const idle = people.filter(({ request, kind, actor }) => {
    const isOften = kind === 'device' || actor === 'thief'
    return request === null && (isOften || draw.chance(0.05))
  })
  const at = draw.below(held.length + idle.length || 1)
  const call = held[at]
  if (call !== undefined) return release(world, call)
  const who = idle[at - held.length]
  if (who !== undefined) begin(world, who)
}

function release(world: World, call: Held): void {
  const { draw, people, scheduler, tell } = world
  const owner = people.find(({ request }) => request === call.request)
  if (owner?.exchange && draw.chance(shares.kill)) {
    tell(`kill ${call.key}`)
    giveUp(owner)
    scheduler.drop((request) => request === call.request)
    return
  }
  const how = draw.chance(shares.fault) ? faultOf(world, call) : 'go'
  if (how !== 'go' && owner?.exchange) owner.exchange.struck = true
  tell(`${how} ${call.key} ${call.name}`)
  call.release(how)
}

function faultOf({ draw }: World, { phase }: Held): Release {
  if (phase === 'late') return 'go'
  if (phase === 'answer') return 'lost'
  return draw.chance(0.5) ? 'before' : 'late'
}

/** A request whose process or connection is gone. */
function giveUp(who: Person): void {
  if (who.exchange !== null) who.exchange.struck = true
  who.request = null
}

/** A process is killed, with all that it was about to do, and another takes its place. */
async function restart(world: World): Promise<void> {
  const { draw, people, replicas, scheduler, surroundings, tell } = world
  const at = draw.below(replicas.length)
  const isOf = (request: string | null): boolean => request?.startsWith(`r${at} `) === true
  world.restarts += 1
  tell(`restart ${at}`)
  for (const who of people) if (isOf(who.request)) giveUp(who)
  scheduler.drop(isOf)
  replicas[at]?.kill()
  replicas[at] = await startReplica(surroundings, `${world.seed} ${at} ${world.restarts}`)
}
