import { actors } from './actors/index.js'
import type { Decision } from './decision.js'
import type { Held, Release } from './scheduler.js'
import type { Person, World } from './world.js'

/** How often things go wrong, by the share of decisions. */
const shares = {
  time: 0.01,
  restart: 0.0005,
  denylist: 0.001,
  kill: 0.003,
  fault: 0.004,
}

const minute = 60_000
const short = [1, 100, 500, 2000, 4000, 11_000] as const
const long = [16 * minute, 3 * 60 * minute, 9 * 24 * 60 * minute] as const

/**
 * The next decision: time passes, a replica starts anew, somebody begins, or a call is released, fails or is killed. Null
 * where the one who was drawn has nothing to do.
 */
export function drawDecision(world: World): Decision | null {
  const { draw, people, scheduler, replicas, profile } = world
  if (draw.chance(shares.time)) {
    return { kind: 'advance', ms: draw.pick(draw.chance(0.08) ? long : short) }
  }
  if (draw.chance(shares.restart)) return { kind: 'restart', replica: draw.below(replicas.length) }
  const mayLose = profile.losesDenylist && world.denylistLost === null
  if (mayLose && draw.chance(shares.denylist)) return { kind: 'loseDenylist' }
  const { held } = scheduler
  const idle = people.filter(({ request, kind }) => {
    const { share = 1 } = actors[kind]
    return request === null && (share === 1 || draw.chance(share))
  })
  const at = draw.below(held.length + idle.length || 1)
  const call = held[at]
  if (call !== undefined) return drawRelease(world, call)
  const who = idle[at - held.length]
  return who === undefined ? null : drawBeginning(world, who)
}

function drawRelease(world: World, call: Held): Decision {
  const { draw, people, scheduler } = world
  const { request } = call
  const isUnderway = people.some((one) => one.request === request)
  if (isUnderway && draw.chance(shares.kill)) return { kind: 'kill', request }
  const how = draw.chance(shares.fault) ? faultOf(world, call) : 'go'
  const own = scheduler.held.filter((one) => one.request === request)
  return { kind: 'release', request, call: own.indexOf(call), how }
}

function faultOf({ draw }: World, { phase }: Held): Release {
  if (phase === 'late') return 'go'
  if (phase === 'answer') return 'lost'
  return draw.chance(0.5) ? 'before' : 'late'
}

function drawBeginning(world: World, who: Person): Decision | null {
  const { draw, replicas, profile } = world
  const { actor, kind } = who
  const chosen = actors[kind].choose(world, who)
  if (chosen === null) return null
  // Mostly the first of what there is to choose among.
  const pick = draw.chance(0.7) ? 0 : draw.below(1000)
  if (chosen === 'steal') return { kind: 'steal', actor, pick: draw.below(1000) }
  const replica = draw.below(replicas.length)
  const request = `r${replica} q${String(world.requests + 1).padStart(6, '0')}`
  const forgets = draw.chance(0.4)
  const isRefresh = chosen === 'refresh' || chosen === 'tabRefresh'
  const loses = isRefresh && draw.chance(profile.lostReplies) ? ({ loses: true } as const) : {}
  return { kind: 'begin', actor, operation: chosen, replica, request, pick, forgets, ...loses }
}
