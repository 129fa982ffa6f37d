import { expect, it } from 'vitest'
import { checkScenario, unreached } from './spin/check-model.js'
import { decisionTree } from './spin/decision-tree.js'
import { type Model, replaceActions, withClaim } from './spin/model.js'
import { parseSearch } from './spin/parse-search.js'
import { promelaOf } from './spin/promela.js'
import { isSpinMissing, search } from './spin/search.js'

const model: Model = {
  name: 'small',
  variables: { x: { kind: 'byte', initially: [0, 1] }, y: { kind: 'bit', initially: [0] } },
  definitions: { most: '3' },
  actions: [
    {
      name: 'grows',
      by: 'one',
      when: 'x < most',
      effects: ['x = x + 1'],
      claims: [{ name: 'below three', holds: 'x < 3' }],
    },
    { name: 'turns', by: 'one', when: '!y', effects: ['y = 1'] },
    { name: 'rests', by: 'other', when: 'y', effects: [] },
  ],
  invariants: [{ name: 'never four', holds: 'x < 4' }],
  scenarios: [],
  never: {},
  plants: [],
}
const scenario = {
  ...{ name: 'one', transitions: 8, fingerprint: '', processes: ['one'] },
  eventually: null,
}

const finished = `
taken 0

State-vector 28 byte, depth reached 9, errors: 0
   197483 states, stored
  907991 states, matched
  1105474 transitions (= stored+matched)
  134.295\ttotal actual memory usage

pan: elapsed time 1.28 seconds
fingerprint 00c0ffee00c0ffee
`

it('a decision is printed with the inputs that make a difference alone', () => {
  const inputs = ['a', 'b'].map((expression) => ({ expression, values: [0, 1] }))
  expect(decisionTree(inputs, ([a]) => `result${a}`)).toBe('(a == 0 -> result0 : result1)')
  expect(decisionTree(inputs, ([a, b]) => `${a === 1 && b === 1}`)).toBe(
    '(a == 0 -> false : (b == 0 -> false : true))',
  )
})

it('a scenario is printed with its processes, first values and bounds, and claims are found by line', () => {
  const { text, actions, claims } = promelaOf(model, {
    ...scenario,
    without: ['turns'],
    initially: { y: [1] },
    bounds: { most: 2 },
  })
  const lines = text.split('\n')
  expect(actions).toEqual(['grows'])
  expect(text).toContain('#define most (2)')
  expect(text).toContain('bit y = 1;')
  expect(text).toContain('if :: x = 0 :: x = 1 fi;')
  expect(text).not.toContain('proctype other')
  expect([...claims.values()]).toEqual(['below three', 'never four'])
  for (const [line, claim] of claims) expect(lines[line - 1]).toContain(`/* ${claim} */`)
})

it('a scenario or plant that names what the model does not have is an error', () => {
  expect(() => promelaOf(model, { ...scenario, initially: { z: [1] } })).toThrow('"z"')
  expect(() => promelaOf(model, { ...scenario, without: ['sleeps'] })).toThrow('"sleeps"')
  expect(() => promelaOf(model, { ...scenario, bounds: { least: 1 } })).toThrow('"least"')
  expect(() => promelaOf(model, { ...scenario, processes: ['third'] })).toThrow('"third"')
  expect(() => replaceActions(model, { sleeps: (action) => action })).toThrow('"sleeps"')
  expect(() => withClaim(model, 'below five')).toThrow('"below five"')
})

it('a search that got to its end is read', () => {
  expect(parseSearch(finished, { actions: ['grows'] })).toEqual({
    errors: 0,
    states: 197483,
    transitions: 1105474,
    fingerprint: '00c0ffee00c0ffee',
    megabytes: 134.295,
    seconds: 1.28,
    incomplete: [],
    taken: ['grows'],
  })
})

it('a search that did not see every state is no result, whatever it says of errors', () => {
  const signs = [
    'error: max search depth too small',
    'pan: reached -DMEMLIM bound',
    'pan: out of memory',
    'Warning: Search not completed',
  ]
  for (const sign of signs) {
    expect(parseSearch(`${sign}\n${finished}`, { actions: [] }).incomplete).not.toEqual([])
  }
  const cutOff = parseSearch('Depth= 107 States= 1e+06', { actions: [] })
  expect(cutOff).toMatchObject({ errors: 1, incomplete: ['the search did not get to its end'] })
})

it('an action that never happens is told, and so is an excuse for one that does', () => {
  const found = { ...parseSearch(finished, { actions: ['grows'] }), broken: null, trail: [] }
  const never = { turns: 'it is told not to', grows: 'wrong' }
  expect(unreached({ ...model, never }, [{ name: 'one', found, problems: [] }])).toEqual([
    'never happens: rests',
    'does happen: grows',
  ])
})

it.skipIf(isSpinMissing)(
  'spin tells two models apart whose steps lead to the same states',
  async () => {
    const turns = { name: 'turns', by: 'one', when: '!y', effects: ['y = 1', 'x = 0'] }
    const both = { ...scenario, initially: { x: [0, 1], y: [0, 1] } } as const
    const resets = { ...model, invariants: [], actions: [turns] }
    const keeps = { ...resets, actions: [{ ...turns, effects: ['y = 1'] }] }
    const [one, same, other] = [
      await search(resets, both),
      await search(resets, both),
      await search(keeps, both),
    ]
    expect([one.incomplete, one.fingerprint]).toEqual([[], same.fingerprint])
    expect([other.states, other.transitions]).toEqual([one.states, one.transitions])
    expect(other.fingerprint).not.toBe(one.fingerprint)
    const checked = await checkScenario(keeps, { ...both, ...one, name: 'one' })
    expect(checked.problems).toEqual([expect.stringContaining(other.fingerprint)])
  },
)

it.skipIf(isSpinMissing)(
  'spin tells two models apart whose steps begin in other states',
  async () => {
    const from = (x: number) => ({
      ...{ ...model, invariants: [] },
      actions: [{ name: 'turns', by: 'one', when: `x == ${x}`, effects: ['x = 2'] }],
    })
    const both = { ...scenario, initially: { x: [0, 1] } } as const
    const [one, other] = [await search(from(0), both), await search(from(1), both)]
    expect([other.states, other.transitions]).toEqual([one.states, one.transitions])
    expect(other.fingerprint).not.toBe(one.fingerprint)
  },
)
