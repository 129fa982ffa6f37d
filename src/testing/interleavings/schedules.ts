import { type Choose, type Decision, letterOf } from './play-schedule.js'

export interface ScheduleOptions {
  /** The most schedules that a case plays. Default 100. */
  readonly limit?: number
  /** The seed of the random schedules, played when more than `limit` exist. Default 1. */
  readonly seed?: number
}

/** Plays one schedule and tells what could have been chosen. */
export type Play = (choose: Choose) => Promise<readonly Decision[]>

export interface Explored {
  readonly schedules: number
  /** Whether these are all there are. */
  readonly isExhaustive: boolean
}

/**
 * Plays every schedule when `limit` allows it. Otherwise all those that take the turn from a racer
 * no more than once, which is what most faults need, and then random ones by `seed`.
 */
export async function playSchedules(
  play: Play,
  { limit = 100, seed = 1 }: ScheduleOptions,
): Promise<Explored> {
  const first = await play(() => 0)
  if (countOf(first) <= limit) {
    const { played, isWhole } = await playTree(play, first, Number.POSITIVE_INFINITY, limit)
    return { schedules: played, isExhaustive: isWhole }
  }
  const { played } = await playTree(play, first, 1, limit)
  const random = randomOf(seed)
  for (let at = played; at < limit; at++) {
    await play((options) => Math.floor(random() * options.length))
  }
  return { schedules: Math.max(played, limit), isExhaustive: false }
}

/** The letters of the racers in the order they were let go on. */
export function scheduleText(decisions: readonly Decision[]): string {
  return decisions.map(({ options, picked }) => letterOf(options[picked] ?? 0)).join('')
}

/** A schedule that is played again. */
export interface Replay {
  readonly choose: Choose
  /** Call it after the play. Throws a `TypeError` unless the racers went on as the letters say. */
  requireFit(): void
}

/**
 * Chooses what the letters of `text` say. Once they say something that cannot be, another schedule is
 * played to its end: a throw in between would look like an answer of the driver.
 */
export function replaying(text: string): Replay {
  const letters = [...text]
  let next = 0
  let problem: string | null = null
  return {
    choose(options) {
      const letter = letters[next]
      next += 1
      const picked = options.findIndex((racer) => letterOf(racer) === letter)
      if (picked < 0) problem ??= misfit(letter, next, options.map(letterOf).sort())
      return Math.max(0, picked)
    },
    requireFit() {
      if (next < letters.length) problem ??= `all racers had ended after ${next} letters`
      if (problem === null) return
      throw new TypeError(
        `interleavings: { replay: '${text}' } does not fit this case: ${problem}. Replay a schedule on ` +
          'the case and the adapter that printed it, and run that case alone',
      )
    },
  }
}

function misfit(letter: string | undefined, at: number, able: readonly string[]): string {
  const could = `only ${able.join(' or ')} could go on`
  return letter === undefined
    ? `it ends after ${at - 1} letters, when ${could}`
    : `its letter ${at} is ${letter}, when ${could}`
}

/** In how many orders the racers of this run could have gone on. */
function countOf(decisions: readonly Decision[]): number {
  const turns = new Map<number, number>()
  let count = 1
  for (const [at, { options, picked }] of decisions.entries()) {
    const racer = options[picked] ?? 0
    const own = (turns.get(racer) ?? 0) + 1
    turns.set(racer, own)
    count *= (at + 1) / own
  }
  return Math.round(count)
}

/** Depth first from the first run, as far as the bound on preemptions and the limit go. */
async function playTree(
  play: Play,
  first: readonly Decision[],
  mostPreemptions: number,
  limit: number,
): Promise<{ readonly played: number; readonly isWhole: boolean }> {
  let prefix = nextPrefix(first, mostPreemptions)
  let played = 1
  while (prefix !== null && played < limit) {
    const path = prefix
    let at = 0
    const decisions = await play(() => path[at++] ?? 0)
    played += 1
    prefix = nextPrefix(decisions, mostPreemptions)
  }
  return { played, isWhole: prefix === null }
}

/** The choices that lead to the next branch not taken yet; null when all were taken. */
function nextPrefix(decisions: readonly Decision[], most: number): readonly number[] | null {
  for (let at = decisions.length - 1; at >= 0; at--) {
    const here = decisions[at]
    if (!here || here.picked + 1 >= here.options.length) continue
    const before = decisions.slice(0, at)
    const preemptions = before.filter((one) => one.isPreemptive && one.picked > 0).length
    if (preemptions + (here.isPreemptive ? 1 : 0) > most) continue
    return [...before.map(({ picked }) => picked), here.picked + 1]
  }
  return null
}

/** Mulberry32: the same numbers, 0 to 1, for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
