import { judgeRefresh } from '../../src/engine/refresh-rules.js'
import {
  changeActions,
  changePlaces,
  endingActions,
  endingPlaces,
  surroundings,
} from './refresh-endings.js'
import { holderActions, places } from './refresh-holder.js'
import { refreshPlants } from './refresh-plants.js'
import { type Judge, refreshVerdict, verdictName, verdicts } from './refresh-verdict.js'
import { bit, byte, type Model, numbered, type Scenario, type Variable } from './spin/model.js'

function holderVariables(n: number): Readonly<Record<string, Variable>> {
  return {
    [`place${n}`]: byte(0),
    // The generation of its newest token; 0 = it has none.
    [`held${n}`]: byte(n === 0 ? 1 : 0),
    // What its request read of the user: whether the family is of an epoch that may refresh.
    [`epochHolds${n}`]: bit(0),
    // Its request began after an ending of the session could be seen.
    [`late${n}`]: bit(0),
    // Its request's own write took effect.
    [`applied${n}`]: bit(0),
    // It held its token before the password change was called, and has not refreshed since the answer.
    [`before${n}`]: bit(0),
    // Its request began before the password change was answered.
    [`early${n}`]: bit(0),
  }
}

const variables: Readonly<Record<string, Variable>> = {
  // The row of the family. `winner`: the holder whose present request wrote it last.
  ...{ generation: byte(1), winner: byte(0), noReissueUpTo: byte(0), revoked: bit(0) },
  // Time since the last rotation, in graces, whether half of the idle window is over, and whether the two
  // deadlines have passed.
  ...{ elapsed: byte(0), halfway: bit(0), idle: bit(0), capped: bit(0) },
  // The setting of a grace of no length.
  strict: bit(0),
  // The user. The family is of epoch 0.
  ...{ epoch: byte(0), kept: bit(0), disabled: bit(0) },
  // An ending raised the epoch, whatever the row of the user says of it.
  raised: bit(0),
  ...{ denied: bit(0), closed: bit(0) },
  // An ending was answered, or a refusal that ended the session was.
  ended: bit(0),
  ending: byte(0),
  ...{ change: byte(0), seen: byte(0), answered: bit(0), survivors: bit(0) },
  // A write under way that no request waits for; 3 = and whose request is over.
  ...{ writer: byte(0), lateShown: byte(0), lateEpoch: bit(0) },
  // Where they are limited: how many faults there are yet, and how often an ending is tried.
  ...{ faults: byte(1), tries: byte(1), limited: bit(0) },
  ...holderVariables(0),
  ...holderVariables(1),
}

const holders = ['holder0', 'holder1', 'thief'] as const
const deadlines = [
  'half of the idle window passes',
  'the idle deadline passes',
  'the cap passes',
] as const

const scenarios: readonly Scenario[] = [
  {
    name: 'two holders',
    transitions: 1_652_436,
    fingerprint: '995002bc1a5fb808',
    processes: [...holders, 'clock', 'store'],
    bounds: { newest: 4, longest: 2 },
    initially: { strict: [0, 1] },
    eventually: null,
  },
  {
    name: 'endings',
    transitions: 2_169_205,
    fingerprint: '02d6bab7bc12b592',
    processes: [...holders, 'ender', 'clock', 'store'],
    bounds: { newest: 3, longest: 1 },
    initially: { strict: [0, 1] },
    without: deadlines,
    eventually: null,
  },
  {
    name: 'a password change',
    transitions: 4_936_602,
    fingerprint: '64b0f2f025cc5987',
    processes: [...holders, 'changer', 'clock', 'store'],
    bounds: { newest: 4, longest: 1 },
    without: deadlines,
    eventually: null,
  },
  {
    name: 'a password change and endings',
    transitions: 42_252_184,
    fingerprint: 'bf3aeceae14da4f9',
    processes: [...holders, 'ender', 'changer'],
    bounds: { newest: 3, epochs: 2 },
    eventually: null,
  },
  {
    name: 'all of it at once, with one fault',
    transitions: 9_445_449,
    fingerprint: 'dd0df96cc5b09469',
    processes: [...holders, 'ender', 'changer', 'clock', 'store'],
    bounds: { newest: 2, longest: 1, epochs: 2 },
    without: ['half of the idle window passes', 'the idle deadline passes'],
    initially: { strict: [0, 1], limited: [1] },
    eventually: null,
  },
  {
    name: 'an ending is completed, whatever deadline passes meanwhile',
    transitions: 1_381,
    fingerprint: 'da41488cc9840d05',
    processes: ['ender', 'clock'],
    initially: { faults: [0], strict: [0, 1] },
    eventually: '[] ((denied -> <> closed) && (epoch > 0 -> <> denied))',
  },
  {
    name: 'a password change, whatever deadline passes meanwhile',
    transitions: 820_751,
    fingerprint: '54c3cb746afa9a50',
    processes: [...holders, 'changer', 'clock'],
    bounds: { newest: 2, longest: 1 },
    initially: { strict: [0, 1], limited: [1] },
    eventually: null,
  },
  {
    name: 'an ending cut short is completed at the next touch',
    transitions: 37_686,
    fingerprint: '5bfec4391088f5f7',
    processes: ['holder0', 'ender'],
    bounds: { newest: 3 },
    initially: { faults: [2], limited: [1] },
    without: ['holder0 calls a guarded route'],
    eventually: '[] ((denied -> <> closed) && (epoch > 0 -> <> (denied || held0 == newest)))',
  },
  {
    name: 'a token of two generations ago ends the session',
    transitions: 756,
    fingerprint: 'dfba099ac39bfe85',
    processes: ['holder0', 'holder1', 'thief'],
    bounds: { newest: 4 },
    initially: { faults: [0] },
    without: ['holder0 calls a guarded route', 'holder1 calls a guarded route'],
    eventually: '[] ((place1 == missed && held1 + 1 < generation) -> <> denied)',
  },
  {
    name: 'a lone holder that lost an answer gets the next one, inside the grace',
    transitions: 7_096,
    fingerprint: '6e3676ef97a52070',
    processes: ['holder0', 'clock', 'store'],
    bounds: { newest: 3 },
    initially: { faults: [2], limited: [1] },
    without: ['holder0 calls a guarded route', 'holder0 views the session'],
    eventually:
      '[] (generation > held0 -> <> (generation == held0 || elapsed > 0 || idle || capped))',
  },
]

function modelOf(judge: Judge): Omit<Model, 'plants'> {
  return {
    name: 'refresh',
    variables,
    definitions: {
      ...numbered(places),
      ...numbered(verdicts.map(verdictName)),
      ...numbered(endingPlaces),
      ...numbered(changePlaces),
      ...{ newest: '4', longest: '1', epochs: '1' },
      // Once the session is denied no more states are told apart by time.
      still: 'denied',
      behind0: '(generation - held0 > 2 -> 2 : generation - held0)',
      behind1: '(generation - held1 > 2 -> 2 : generation - held1)',
      verdict0: refreshVerdict(0, judge),
      verdict1: refreshVerdict(1, judge),
    },
    actions: [
      ...holderActions(0),
      ...holderActions(1),
      ...endingActions(),
      ...changeActions(),
      ...surroundings(),
    ],
    invariants: [
      {
        name: 'an ending is answered when all of its steps are done',
        holds: '!ended || (denied && revoked && closed)',
      },
      {
        // Its access tokens would go on where an ending stopped in between, and no refresh would tell.
        name: 'a session whose row is revoked is on the denylist',
        holds: '!revoked || denied',
      },
      {
        // A change cut short is tried again with the password that it replaced, and gets no further.
        name: 'a password that was changed has barred re-issues',
        holds: '!kept || noReissueUpTo > 0',
      },
    ],
    scenarios,
    never: {},
  }
}

const build = (judge: Judge): Model => ({ ...modelOf(judge), plants: [] })

/** Two holders of the tokens of one session: what a refresh is worth while they, time and endings race. */
export const refreshModel: Model = {
  ...modelOf(judgeRefresh),
  plants: refreshPlants(build, judgeRefresh),
}
