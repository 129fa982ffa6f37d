import { createHash } from 'node:crypto'
import { carryOut } from './carry-out.js'
import type { Decision } from './decision.js'
import { drawDecision } from './draw-decision.js'
import type { History } from './history.js'
import type { Plant } from './plant.js'
import { startWorld } from './start-world.js'
import { synchronousSigning } from './synchronous-signing.js'
import { stuckOwners } from './way-in.js'
import type { World } from './world.js'

/** A history, and the decisions that it came by. */
export interface Played {
  readonly history: History
  readonly decisions: readonly Decision[]
}

interface Playing {
  readonly seed: number
  readonly steps: number
  readonly plant?: Plant | undefined
}

/** Plays one history, which the seed draws. */
export async function simulate(seed: number, steps: number, plant: Plant = {}): Promise<History> {
  return (await play({ seed, steps, plant }, drawDecision)).history
}

/** The same, with its decisions. */
export function simulated(playing: Playing): Promise<Played> {
  return play(playing, drawDecision)
}

/** Plays these decisions in the world of this seed, and draws none. */
export async function replay(
  { seed, plant }: Omit<Playing, 'steps'>,
  decisions: readonly Decision[],
): Promise<History> {
  const next = ({ step }: World): Decision | null => decisions[step] ?? null
  return (await play({ seed, plant, steps: decisions.length }, next)).history
}

async function play(
  { seed, steps, plant = {} }: Playing,
  next: (world: World) => Decision | null,
): Promise<Played> {
  const restore = synchronousSigning()
  try {
    const hash = createHash('sha256')
    const written: string[] = []
    const world = await startWorld({
      ...{ seed, steps, plant },
      tell: (line) => hash.update(`${line}\n`),
      note: (text) => written.push(text),
    })
    const decisions: Decision[] = []
    for (; world.step < steps; world.step += 1) {
      await world.scheduler.quiet()
      const decision = next(world)
      if (decision === null) continue
      decisions.push(decision)
      await carryOut(world, decision)
    }
    await settle(world)
    const recorded = [...world.recorded]
    const stuck = await stuckOwners(world)
    const rest = { stuck, recorded, written: written.join('\n'), trace: hash.digest('hex') }
    return { decisions, history: historyOf(world, rest) }
  } finally {
    restore()
  }
}

/** Lets everything end that was begun. */
async function settle({ scheduler }: World): Promise<void> {
  for (let turn = 0; turn < 500 && scheduler.held.length > 0; turn += 1) {
    for (const held of scheduler.held) held.release('go')
    await scheduler.quiet()
  }
}

function historyOf(
  world: World,
  rest: Pick<History, 'stuck' | 'recorded' | 'written' | 'trace'>,
): History {
  const { owners, profile, steps, exchanges, mails, rotations, restarts, denylistLost } = world
  const { revised, openings, endings } = world
  const marks = new Map(owners.map(({ name, email, id }) => [name, id ? [email, id] : [email]]))
  const withFactor = new Set(
    owners.filter(({ authenticator }) => authenticator !== null).map(({ name }) => name),
  )
  const { secrets, struck } = world
  const played = {
    profile,
    steps,
    exchanges,
    mails,
    rotations,
    restarts,
    denylistLost,
    struck,
    revised,
    openings,
    endings,
  }
  return { ...played, secrets, marks, withFactor, ...rest }
}
