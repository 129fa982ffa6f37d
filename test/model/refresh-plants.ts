import type { Judge } from './refresh-verdict.js'
import { type Action, type Model, type Plant, replaceActions } from './spin/model.js'

const otherwise = (changes: Partial<Action>) => (action: Action) => ({ ...action, ...changes })

/** Protocols that are wrong by one thing each. */
export function refreshPlants(build: (judge: Judge) => Model, judge: Judge): readonly Plant[] {
  const changed = (actions: Readonly<Record<string, (action: Action) => Action>>) => () =>
    replaceActions(build(judge), actions)
  return [
    {
      name: 'the grace lasts to its very end, and longer than no time at all',
      scenario: 'two holders',
      breaks: 'a re-issue is within the grace',
      model: () =>
        build((family, presented, policy, now) =>
          judge(family, presented, { ...policy, graceMs: policy.graceMs + 1 }, now),
        ),
    },
    {
      name: 'a re-issue comes before the cap',
      scenario: 'two holders',
      breaks: 'no grant beyond the cap or the idle deadline',
      model: () =>
        build((family, presented, policy, now) => {
          const uncapped = { ...policy, absoluteTtlMs: null }
          const decision = judge(family, presented, uncapped, now)
          return decision.outcome === 'reissue' ? decision : judge(family, presented, policy, now)
        }),
    },
    {
      name: 'a write whose answer was lost is taken for one that missed',
      scenario: 'two holders',
      breaks: 'a request whose own write took effect finds no replay',
      model: changed({
        'holder0 cannot tell misuse from a lost answer': (action) => ({
          ...action,
          effects: action.effects.map((effect) => effect.replace('nowhere', 'toDeny')),
          claims: [
            {
              name: 'a request whose own write took effect finds no replay',
              holds: '!applied0',
            },
          ],
        }),
      }),
    },
    {
      name: 'a session is put on the denylist after the reply',
      scenario: 'endings',
      breaks: 'no access after an ending was answered',
      model: changed({
        'logout puts the session on the denylist': otherwise({ effects: ['ending = toRevokeIt'] }),
        'the ending closes the document and is answered': otherwise({
          effects: ['closed = 1', 'ended = 1', 'ending = toDenyIt'],
        }),
        'the ending revokes the row': otherwise({ when: 'ending == toRevokeIt && !revoked' }),
      }),
    },
    {
      name: 'a request does not ask for the epoch of the user',
      scenario: 'endings',
      breaks: 'no grant begun after an ending',
      model: changed({
        'holder0 asks, is not denied, and signs': (action) => ({
          ...action,
          effects: action.effects.map((effect) =>
            effect.startsWith('epochHolds0') ? 'epochHolds0 = 1' : effect,
          ),
        }),
      }),
    },
    {
      name: 'a password change leaves the row as it is',
      scenario: 'a password change',
      breaks: 'after a password change one holder of a token goes on',
      model: changed({
        'the change bars re-issues': otherwise({
          effects: ['seen = 0', 'change = toWritePassword'],
        }),
      }),
    },
    {
      name: 'a password change bars the generation that it read, whatever came since',
      scenario: 'a password change',
      breaks: 'after a password change one holder of a token goes on',
      model: changed({
        'the change bars re-issues': otherwise({ when: 'change == toBar && !revoked' }),
      }),
    },
    {
      name: 'a password change writes the user before the row',
      scenario: 'a password change',
      breaks: 'a password that was changed has barred re-issues',
      model: changed({
        'a password change reads the row': (action) => ({
          ...action,
          effects: [...action.effects, 'epoch = epoch + 1', 'kept = 1'],
        }),
      }),
    },
    {
      name: 'a request that meets an ending cut short refuses, and puts nothing right',
      scenario: 'an ending cut short is completed at the next touch',
      breaks: 'an ending cut short is completed at the next touch',
      model: changed({
        'holder0 asks and finds an ending begun': otherwise({ effects: ['place0 = nowhere'] }),
      }),
    },
    {
      name: 'a replay is refused, and the session goes on',
      scenario: 'a token of two generations ago ends the session',
      breaks: 'a token of two generations ago ends the session',
      model: changed({
        'holder1 reads a replay': otherwise({ effects: ['place1 = nowhere'] }),
      }),
    },
    {
      name: 'an ending revokes the row before the denylist',
      scenario: 'endings',
      breaks: 'a session whose row is revoked is on the denylist',
      model: changed({
        'logout puts the session on the denylist': otherwise({
          effects: ['revoked = 1', 'ending = toDenyIt'],
        }),
      }),
    },
  ]
}
