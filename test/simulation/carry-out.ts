import { actors } from './actors/index.js'
import { type Decision, lineOf } from './decision.js'
import { startReplica } from './replica.js'
import { begin } from './requests/begin.js'
import type { Release } from './scheduler.js'
import type { World } from './world.js'

/** Does what was decided. What a decision names may be gone, where decisions before it were taken out: then nothing. */
export async function carryOut(world: World, decision: Decision): Promise<void> {
  const { clock, people, tell } = world
  tell(lineOf(decision))
  switch (decision.kind) {
    case 'advance':
      return clock.advance(decision.ms)
    case 'restart':
      return restart(world, decision.replica)
    case 'loseDenylist':
      world.denylistLost ??= world.step
      return world.surroundings.loseDenylist()
    case 'steal': {
      const thief = people.find(({ actor }) => actor === decision.actor)
      if (thief?.request === null) actors[thief.kind].steal?.(world, thief, decision.pick)
      return
    }
    case 'begin':
      return begin(world, decision)
    case 'kill':
      return kill(world, decision.request)
    case 'release':
      return release(world, decision)
  }
}

function release(
  world: World,
  {
    request,
    call,
    how,
  }: { readonly request: string; readonly call: number; readonly how: Release },
): void {
  const held = world.scheduler.held.filter((one) => one.request === request)[call]
  if (held === undefined) return
  const exchange = world.byRequest.get(request)
  if (exchange !== undefined) {
    const key = `${exchange.operation} ${held.name} ${held.phase === 'late' ? 'landed late' : how}`
    world.struck.set(key, (world.struck.get(key) ?? 0) + 1)
    if (how !== 'go') exchange.struck = true
  }
  held.release(how)
}

function kill(world: World, request: string): void {
  giveUp(world, (one) => one === request)
  world.scheduler.drop((one) => one === request)
}

/** Requests whose process or connection is gone. */
function giveUp({ people, byRequest }: World, isOf: (request: string) => boolean): void {
  for (const who of people) if (who.request !== null && isOf(who.request)) who.request = null
  for (const [request, exchange] of byRequest) {
    if (exchange.ended === null && isOf(request)) exchange.struck = true
  }
}

/** A process is killed, with all that it was about to do, and another takes its place. */
async function restart(world: World, at: number): Promise<void> {
  const { replicas, scheduler, surroundings, profile } = world
  const isOf = (request: string): boolean => request.startsWith(`r${at} `)
  world.restarts.push({ step: world.step, replica: at })
  giveUp(world, isOf)
  scheduler.drop(isOf)
  replicas[at]?.kill()
  const name = `${world.seed} ${at} ${world.restarts.length}`
  replicas[at] = await startReplica(surroundings, { name, skewMs: profile.skews[at] ?? 0 })
}
