import type { Planner } from './edits-verdict.js'
import { type Action, type Model, type Plant, replaceActions } from './spin/model.js'

const otherwise = (changes: Partial<Action>) => (action: Action) => ({ ...action, ...changes })

/** Protocols that are wrong by one thing each. */
export function editsPlants(
  build: (planner: Planner) => Model,
  planner: Planner,
): readonly Plant[] {
  const changed = (actions: Readonly<Record<string, (action: Action) => Action>>) => () =>
    replaceActions(build(planner), actions)
  const plansAgain = (element: string, scenario: string): Plant => ({
    name: `an edit of ${element} that lost a race writes what it had planned`,
    scenario,
    breaks: 'an element is created once',
    model: changed({
      'editor0 plans again': (action) => ({
        ...action,
        effects: action.effects.filter((effect) => !effect.startsWith(`seen${element}`)),
      }),
    }),
  })

  return [
    {
      name: 'a write does not compare',
      scenario: 'three editors',
      breaks: 'a write builds on the newest values',
      model: changed({ 'editor0 writes and wins': otherwise({ when: 'place0 == toWrite' }) }),
    },
    {
      name: 'a write whose answer was lost is taken for one that missed',
      scenario: 'three editors',
      breaks: 'an edit takes effect once',
      model: changed({
        'editor0 looks and finds its own write': otherwise({ effects: ['place0 = missed'] }),
      }),
    },
    plansAgain('A', 'three editors'),
    // Of the three, one alone may create it.
    plansAgain('B', 'two editors among many'),
    {
      name: 'the record of a revision is kept after it was replaced',
      scenario: 'three editors',
      breaks: 'every revision that was replaced has its record',
      model: changed({
        'editor0 keeps a record of the revision that it replaces': otherwise({
          effects: ['place0 = toWrite'],
        }),
        'editor0 is answered': (action) => ({
          ...action,
          effects: [...action.effects, 'recorded = recorded + (seen0 > recorded)'],
        }),
      }),
    },
    {
      name: 'an edit that states no revision is refused after a lost race',
      scenario: 'three editors',
      breaks: 'a conflict of revisions is told to who stated one',
      model: changed({
        'editor0 is told of the conflict': otherwise({ when: 'place0 == missed' }),
      }),
    },
    {
      name: 'a stated revision is no contract',
      scenario: 'three editors',
      breaks: 'a stated revision is the one that is replaced',
      model: () =>
        build((environment, { revision: _, ...patch }, declarations) =>
          planner(environment, patch, declarations),
        ),
    },
  ]
}
