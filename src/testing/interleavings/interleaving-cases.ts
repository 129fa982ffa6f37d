import { AssertionError } from 'node:assert/strict'
import type { Backend } from '../../ports/backend.js'
import { type CaseScript, failureLike, uniqueName } from '../shared/conformance-case.js'
import type { DriverControl } from '../shared/driver-control.js'
import { sampleSpec } from '../shared/sample.js'
import {
  letterOf,
  type Played,
  playSchedule,
  type Racer,
  type WaitOptions,
} from './play-schedule.js'
import { portScenarios } from './port-scenarios.js'
import type { Race, Scenario } from './scenario.js'
import {
  type Play,
  playSchedules,
  replaying,
  type ScheduleOptions,
  scheduleText,
} from './schedules.js'
import { storeScenarios } from './store-scenarios.js'

/** The schedules that were played for one case. */
export interface ExploredCase {
  readonly name: string
  readonly schedules: number
  /** True if no other schedule exists. */
  readonly isExhaustive: boolean
  /** The number of driver calls in the longest schedule. */
  readonly steps: number
}

/** The number and the choice of schedules to play, and how long they wait. */
export interface InterleavingOptions extends ScheduleOptions, WaitOptions {
  /**
   * Plays only this schedule: the letters that a failure printed. A case that it does not fit fails, so
   * run the case that printed it alone.
   */
  readonly replay?: string
  /** Called for each case that passed. */
  explored?(report: ExploredCase): void
}

/** A backend whose driver passes through the kit, and how far to go with it. */
export interface InterleavedBackend {
  readonly backend: Backend
  readonly driver: DriverControl
  readonly interleavings: InterleavingOptions
}

export const interleavingScripts: readonly CaseScript<InterleavedBackend>[] = [
  ...storeScenarios,
  ...portScenarios,
].map((scenario) => {
  const { name, promise } = scenario
  return { name, group: 'interleavings', promise, play: (subject) => explore(scenario, subject) }
})

async function explore(
  scenario: Scenario,
  { backend, driver, interleavings }: InterleavedBackend,
): Promise<void> {
  const spec = sampleSpec('sliding')
  await backend.store.prepare([spec])
  const setup = { ...backend, samples: backend.store.collection(spec) }
  let steps = 0
  const play: Play = async (choose) => {
    const raced = await scenario.arrange(setup, `kit${uniqueName()}`)
    const { trace, decisions } = await playOnce(raced, driver, choose, interleavings)
    steps = Math.max(steps, trace.length)
    if (trace.length === 0) throw new TypeError(nothingPassed)
    return decisions
  }
  const { replay, explored } = interleavings
  if (replay !== undefined) return replayOnce(play, replay)
  const done = await playSchedules(play, interleavings)
  explored?.({ name: scenario.name, steps, ...done })
}

/** A verdict on another schedule than the one that was asked for says nothing. */
async function replayOnce(play: Play, text: string): Promise<void> {
  const { choose, requireFit } = replaying(text)
  try {
    await play(choose)
  } catch (error) {
    const isUnplayed = error instanceof TypeError && error.message === nothingPassed
    if (!isUnplayed) requireFit()
    throw error
  }
  requireFit()
}

const nothingPassed =
  'open: none of the racing calls passed `through`, so they cannot be interleaved; give the ' +
  'adapter its client by way of `through`, or skip "interleavings" with a reason'

async function playOnce(
  { racers, check }: Race,
  driver: DriverControl,
  choose: Parameters<Play>[0],
  waits: WaitOptions,
): Promise<Played> {
  const played = await playSchedule(driver, racers, choose, waits)
  try {
    await check(answersOf(played))
  } catch (error) {
    throw withTrace(error, racers, played)
  }
  return played
}

/** A lost race is an answer; only a call that could not be carried out may reject. */
function answersOf({ outcomes }: Played): readonly unknown[] {
  return outcomes.map((outcome, at) => {
    if ('answer' in outcome) return outcome.answer
    const { failure } = outcome
    const what = failure instanceof Error ? `${failure.name}: ${failure.message}` : typeof failure
    const message = `a race must be answered, but ${letterOf(at)} rejected with ${what}`
    throw failureLike(failure instanceof Error ? failure : new Error(what), message)
  })
}

/** The failure with its interleaving, step by step. */
function withTrace(error: unknown, racers: readonly Racer[], played: Played): Error {
  if (!(error instanceof AssertionError)) throw error
  const { trace, decisions, outcomes } = played
  const schedule = scheduleText(decisions)
  const message = [
    error.message,
    ...racers.map(({ call }, at) => `  ${letterOf(at)} is ${call}`),
    `  interleaving (replay: '${schedule}')`,
    ...trace.map((step, at) => `    ${at + 1}. ${step}`),
    ...outcomes.map((outcome, at) => `  ${letterOf(at)} ${ending(outcome)}`),
  ].join('\n')
  return failureLike(error, message)
}

function ending(outcome: Played['outcomes'][number]): string {
  if ('failure' in outcome) return 'rejected'
  const { answer } = outcome
  return `answered ${typeof answer === 'object' && answer !== null ? 'an object' : String(answer)}`
}
