import { changeActions, changeSteps } from './intents-changes.js'
import { enrolmentActions, enrolmentPlaces } from './intents-enrolment.js'
import { lateWrites, linkActions, linkPlaces } from './intents-link.js'
import { intentPlants } from './intents-plants.js'
import { strangerActions, ticketActions, ticketPlaces } from './intents-ticket.js'
import { effects, type Law, law, verdictDefinitions, verdictNames } from './intents-verdicts.js'
import { bit, byte, type Model, numbered, type Scenario, type Variable } from './spin/model.js'

function requestVariables(n: 0 | 1): Readonly<Record<string, Variable>> {
  return {
    // With the link: where it is, and whether the mailbox was unproved when it was opened.
    ...{ [`linkAt${n}`]: byte(0), [`proof${n}`]: bit(0) },
    // It was answered, or, where refusals count, told that the link is no good.
    ...{ [`done${n}`]: bit(0), [`told${n}`]: bit(0) },
    [`ticketAt${n}`]: byte(0),
    // A factor that is added: whether a login that lacks one does so, and what the account was then.
    ...{ [`enrolAt${n}`]: byte(0), [`lacks${n}`]: bit(0), [`pending${n}`]: bit(0) },
    ...{ [`seenDevice${n}`]: byte(0), [`seenCredential${n}`]: byte(0) },
    // It is stored; it stands; the other one was there when it was begun; a reset of all
    // factors ended the session in which it was begun, 2 = and took the factors.
    ...{ [`factor${n}`]: bit(0), [`stands${n}`]: bit(0) },
    // Its owner is still to be told; its enrolment moved the epoch for the second time.
    ...{ [`untold${n}`]: bit(0), [`settled${n}`]: bit(0) },
    ...{ [`beside${n}`]: bit(0), [`stale${n}`]: byte(0) },
  }
}

const variables: Readonly<Record<string, Variable>> = {
  // The user. Link and ticket are of epoch 0.
  ...{ credential: byte(0), session: byte(0), device: byte(0), last: byte(0) },
  // Whose password it is: 0 = of the beginning, 1 and 2 = of the requests with the link, 3 = another.
  ...{ proved: bit(1), moved: bit(0), disabled: bit(0), password: byte(0) },
  ...{ off: bit(0), expired: bit(0) },
  ...{ linkThere: bit(1), ticketThere: bit(1), given: bit(0) },
  // Wrong codes took the ticket.
  usedUp: bit(0),
  // Access tokens of the beginning; whose password the link set; whether it proved the mailbox.
  ...{ access: bit(1), linkSet: byte(0), owned: bit(0), linkWinner: byte(0) },
  // A write under way that no request waits for.
  ...{ writer: byte(0), lateProof: bit(0) },
  ...{ change: byte(0), changes: byte(2) },
  ...{ faults: byte(1), limited: bit(0) },
  ...requestVariables(0),
  ...requestVariables(1),
}

const ofFactors = [
  'the removal of factor 0 raises the epoch',
  'the removal of factor 1 raises the epoch',
  'factor 0 is removed',
  'factor 1 is removed',
]
const ofReset = [
  'a reset of the factors ends what may be refreshed',
  'the reset ends the sessions',
  'the reset raises the epoch of factors',
  'the reset takes the factors',
  'the reset ends the sessions again',
  'the reset is answered',
]
const longer = [...ofFactors, ...ofReset, 'the change dies']

const scenarios: readonly Scenario[] = [
  {
    name: 'a link, shown twice',
    transitions: 230_757,
    fingerprint: 'a1b30bf58a4c378a',
    processes: ['link0', 'link1', 'stranger', 'changer', 'clock', 'store'],
    initially: { proved: [0, 1] },
    without: longer,
    eventually: null,
  },
  {
    name: 'a ticket, shown twice',
    transitions: 217_360,
    fingerprint: '2bc5cdf35343a378',
    processes: ['login0', 'login1', 'link0', 'stranger', 'changer', 'clock'],
    initially: { proved: [0, 1] },
    without: ['link0 stops waiting for its write', ...longer],
    eventually: null,
  },
  {
    name: 'two factors at once',
    transitions: 4_448_651,
    fingerprint: 'ca1251a308de8305',
    processes: ['enrolment0s', 'enrolment1s', 'changer'],
    initially: { lacks0: [0, 1], lacks1: [0, 1] },
    eventually: null,
  },
  {
    name: 'a link and a factor',
    transitions: 2_338_253,
    fingerprint: 'd5a50dadd41a030a',
    processes: ['link0', 'enrolment0s', 'stranger', 'changer', 'clock'],
    initially: { proved: [0, 1], lacks0: [0, 1] },
    without: ['link0 stops waiting for its write'],
    eventually: null,
  },
  {
    name: 'a link, a ticket and a factor, with one fault',
    transitions: 18_962_449,
    fingerprint: '1633d5b7cc5f993d',
    processes: ['link0', 'login0', 'enrolment0s', 'stranger', 'changer', 'clock', 'store'],
    initially: { proved: [0, 1], lacks0: [0, 1], limited: [1] },
    eventually: null,
  },
  {
    name: 'a link whose answers are lost is completed by the same request',
    transitions: 1_181,
    fingerprint: '7171020f343838f4',
    processes: ['link0', 'store'],
    initially: { proved: [0, 1], faults: [2], limited: [1] },
    eventually: '<> (linkSet == 1 && !linkThere && !access)',
  },
  {
    name: 'a login that lacks a factor goes on where it was cut off',
    transitions: 41,
    fingerprint: '9b645cdf16e7e85f',
    processes: ['enrolment0s'],
    initially: { lacks0: [1], faults: [1], limited: [1] },
    bounds: { latest: 1 },
    eventually: '[] (last == enrolment0 && enrolAt0 == idle -> <> factor0)',
  },
]

function modelOf(by: Law): Omit<Model, 'plants'> {
  return {
    name: 'intents',
    variables,
    definitions: {
      ...numbered(linkPlaces),
      ...numbered(ticketPlaces),
      ...numbered(enrolmentPlaces),
      ...numbered(changeSteps),
      ...numbered(effects),
      ...numbered(verdictNames),
      latest: '3',
      ...verdictDefinitions(by),
    },
    actions: [
      ...linkActions(0),
      ...linkActions(1),
      ...lateWrites(),
      ...ticketActions(0),
      ...ticketActions(1),
      ...strangerActions(),
      ...enrolmentActions(0),
      ...enrolmentActions(1),
      ...changeActions(),
    ],
    invariants: [
      {
        name: 'nothing but its removal takes a factor away',
        holds: '(!stands0 || factor0) && (!stands1 || factor1)',
      },
      { name: 'an unproved account has no factor', holds: 'proved || !(factor0 || factor1)' },
      {
        name: 'a factor that was begun in a session ended the others',
        holds: '(!stands0 || lacks0 || session > 0) && (!stands1 || lacks1 || session > 0)',
      },
      {
        name: 'nothing that was trusted beside the password of before outlives the link',
        holds: 'linkSet == 0 || device > 0',
      },
    ],
    scenarios,
    never: {},
  }
}

const build = (by: Law): Model => ({ ...modelOf(by), plants: [] })

/** An account, and what started in one request and ends in another, while the account changes. */
export const intentsModel: Model = { ...modelOf(law), plants: intentPlants(build, law) }
