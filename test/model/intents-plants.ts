import type { IntentCondition, IntentKind } from '../../src/engine/intents.js'
import type { Law } from './intents-verdicts.js'
import { type Action, type Model, type Plant, replaceActions } from './spin/model.js'

/** Effects with some of them replaced; to nothing where it says null. */
const effects = (change: (effect: string) => string | null) => (action: Action) => ({
  ...action,
  effects: action.effects.flatMap((effect) => change(effect) ?? []),
})
const when = (change: (when: string) => string) => (action: Action) => ({
  ...action,
  when: change(action.when),
})
const without = (...dropped: readonly string[]) =>
  effects((effect) => (dropped.includes(effect) ? null : effect))

type Changed = (
  actions: Readonly<Record<string, (action: Action) => Action>>,
) => Pick<Plant, 'model'>

/** Protocols that are wrong by one thing each. */
export function intentPlants(build: (by: Law) => Model, by: Law): readonly Plant[] {
  const changed: Changed = (actions) => ({ model: () => replaceActions(build(by), actions) })
  const row = (
    kind: IntentKind,
    change: (hangsOn: readonly IntentCondition[]) => readonly IntentCondition[],
  ) => ({
    model: () =>
      build({
        ...by,
        rules(of) {
          const rules = by.rules(of)
          return of === kind ? { ...rules, hangsOn: change(rules.hangsOn) } : rules
        },
      }),
  })
  return [
    {
      name: 'sign-out everywhere voids a link to a new password',
      scenario: 'a link, shown twice',
      breaks: 'sign-out everywhere voids no link',
      ...row('resetPassword', (hangsOn) => [...hangsOn, 'sessions']),
    },
    {
      name: 'a link does not name the switch of its method',
      scenario: 'a link, shown twice',
      breaks: 'a link is good while its method is on',
      ...row('resetPassword', (hangsOn) => hangsOn.filter((one) => one !== 'password')),
    },
    {
      name: 'a login that waits does not hang on the factors',
      scenario: 'a ticket, shown twice',
      breaks: 'a login goes on while all that it began with holds',
      ...row('secondFactor', (hangsOn) => hangsOn.filter((one) => one !== 'factors')),
    },
    {
      name: 'what wrote its effect and was cut off is taken for void',
      scenario: 'a link whose answers are lost is completed by the same request',
      breaks: 'a link whose answers are lost is completed by the same request',
      model: () =>
        build({
          ...by,
          judge(...asked) {
            const verdict = by.judge(...asked)
            return verdict === 'interrupted' ? 'void' : verdict
          },
        }),
    },
    ...linkPlants(changed),
    ...factorPlants(changed),
  ]
}

function linkPlants(changed: Changed): readonly Plant[] {
  return [
    {
      name: 'a link writes without asking for the credentials it was mailed for',
      scenario: 'a link, shown twice',
      breaks: 'a link has its effect once',
      ...changed({ 'link1 writes': when((text) => text.replace('credential == 0 && ', '')) }),
    },
    {
      name: 'a link is taken before its effect',
      scenario: 'a link whose answers are lost is completed by the same request',
      breaks: 'a link whose answers are lost is completed by the same request',
      ...changed({
        'link0 opens it': (action) => ({
          ...action,
          effects: [...action.effects, 'linkThere = 0'],
        }),
      }),
    },
    {
      name: 'a write that missed is refused, though the same link wrote it',
      scenario: 'a link whose answers are lost is completed by the same request',
      breaks: 'a link whose answers are lost is completed by the same request',
      ...changed({
        'link0 misses, and finds its effect written': effects((effect) =>
          effect === 'linkAt0 = toEnd' ? 'linkAt0 = noRequest; told0 = 1' : effect,
        ),
      }),
    },
    {
      name: 'a new password takes the factors with it',
      scenario: 'a link and a factor',
      breaks: 'nothing but its removal takes a factor away',
      ...changed({ 'link0 ends all sessions': effects((effect) => `factor0 = 0; ${effect}`) }),
    },
    {
      name: 'the proof of the mailbox leaves the epoch of sessions',
      scenario: 'a link, shown twice',
      breaks: 'nothing planted before the proof works',
      ...changed({ 'link0 writes': without('session = session + 1') }),
    },
    {
      name: 'a new password leaves the epoch of what was trusted beside the old one',
      scenario: 'a link, shown twice',
      breaks: 'nothing that was trusted beside the password of before outlives the link',
      ...changed({ 'link0 writes': without('device = device + 1') }),
    },
    {
      name: 'a login that completes asks nothing of the account that it opens',
      scenario: 'a ticket, shown twice',
      breaks: 'a session is of the present epoch',
      ...changed({ 'login0 opens a session': when(() => 'ticketAt0 == toOpenSession') }),
    },
    {
      name: 'one wrong code too many is refused, and leaves the ticket',
      scenario: 'a ticket, shown twice',
      breaks: 'a ticket that wrong codes used up opens nothing',
      ...changed({
        'login1 shows one wrong code too many, which takes the ticket': without('ticketThere = 0'),
      }),
    },
    {
      name: 'a ticket is looked at and not taken',
      scenario: 'a ticket, shown twice',
      breaks: 'a ticket gives one session',
      ...changed({ 'login0 takes the ticket': without('ticketThere = 0') }),
    },
  ]
}

function factorPlants(changed: Changed): readonly Plant[] {
  const readsOnly = without('device = device + 1')
  return [
    {
      name: 'a factor that was stored asks for the epoch and leaves it',
      scenario: 'two factors at once',
      breaks: 'no factor stands that was begun before the present first one',
      ...changed({ 'app stands': readsOnly, 'passkey stands': readsOnly }),
    },
    {
      name: 'a factor is added and the other sessions go on',
      scenario: 'two factors at once',
      breaks: 'a factor that was begun in a session ended the others',
      ...changed({ 'app claims the epoch': without('session = session + 1 - lacks0') }),
    },
    {
      name: 'a factor is stored and the epoch not asked again',
      scenario: 'two factors at once',
      breaks: 'no factor outlives a reset of all factors',
      ...changed({ 'passkey stands': when(() => 'enrolAt1 == toMoveOn') }),
    },
    {
      name: 'the sweep completes an enrolment and asks for no epoch',
      scenario: 'two factors at once',
      breaks: 'no factor outlives a reset of all factors',
      ...changed({
        'passkey is completed by the sweep': when(
          () => 'enrolAt1 == idle && untold1 && last == enrolment1 && !settled1',
        ),
      }),
    },
    {
      name: 'a reset of all factors takes them before it raises their epoch',
      scenario: 'two factors at once',
      breaks: 'no factor outlives a reset of all factors',
      ...changed({ 'the reset raises the epoch of factors': without('device = device + 1') }),
    },
  ]
}
