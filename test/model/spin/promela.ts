import { createHash } from 'node:crypto'
import type { Action, Claim, Model, Scenario, Variable } from './model.js'

/** The text for Spin, and what each of its lines stands for. */
export interface Promela {
  readonly text: string
  /** The actions, by the numbers that the verifier prints when it takes one for the first time. */
  readonly actions: readonly string[]
  /** Line number → the claim asserted there. */
  readonly claims: ReadonlyMap<number, string>
}

/** Prints the part of the model that a scenario searches. */
export function promelaOf(model: Model, scenario: Scenario): Promela {
  const lines: string[] = []
  const actions: string[] = []
  const claims = new Map<number, string>()

  const assert = ({ name, holds }: Claim, before: string): void => {
    lines.push(`${before}assert(${holds}); /* ${name} */`)
    claims.set(lines.length, name)
  }

  function printAction(action: Action): void {
    lines.push(`  :: d_step { (${action.when}) -> /* ${action.name} */`)
    for (const claim of action.claims ?? []) assert(claim, '       ')
    lines.push(`       c_code { TAKE(${actions.length}) FROM(${hashOf(action.name)}) };`)
    lines.push(`       printf("@ ${action.by}: ${action.name}\\n");`)
    actions.push(action.name)
    lines.push(`       ${[...action.effects, 'c_code { TO }'].join('; ')} }`)
  }

  lines.push(
    'c_decl {',
    // Beside the state, so that it tells no states apart.
    '  static char taken[256];',
    '  static unsigned long long step, steps;',
    `\\#define FROM(name) step = name; ${mixed(model)}`,
    `\\#define TO ${mixed(model)} steps += step ^ (step >> 31);`,
    '  static void __attribute__((destructor)) tell(void) { printf("fingerprint %016llx\\n", steps); }',
    '\\#define TAKE(n) if (!taken[n]) { taken[n] = 1; printf("taken %d\\n", n); }',
    '}',
  )
  const values = { ...model.variables, ...startingWith(model, scenario) }
  for (const [name, { kind, initially }] of Object.entries(values)) {
    lines.push(`${kind} ${name} = ${initially[0]};`)
  }
  for (const name of Object.keys(scenario.bounds ?? {})) known(model.definitions, name, model)
  const definitions = { ...model.definitions, ...scenario.bounds }
  for (const [name, body] of Object.entries(definitions)) {
    lines.push(`#define ${name} (${body})`)
  }
  for (const process of scenario.processes) {
    lines.push(`proctype ${process}() {`, 'end: do')
    for (const action of actionsOf(model, scenario, process)) printAction(action)
    lines.push('  od }')
  }
  if (model.invariants.length > 0) {
    lines.push('proctype observer() {', 'end: do')
    for (const claim of model.invariants) {
      lines.push(`  :: !(${claim.holds}) ->`)
      assert(claim, '       ')
    }
    lines.push('  od }')
  }
  lines.push('init {', ...choices(values), '  atomic {')
  const started = [...scenario.processes, ...(model.invariants.length > 0 ? ['observer'] : [])]
  lines.push(...started.map((process) => `    run ${process}();`), '  } }')
  if (scenario.eventually !== null) lines.push(`ltl eventually { ${scenario.eventually} }`)
  return { text: `${lines.join('\n')}\n`, actions, claims }
}

/** Adds the state to what tells a step: its name, where it begins and where it leads. Their sum knows no order. */
function mixed({ variables }: Model): string {
  const names = Object.keys(variables)
  return names.map((name) => `step = (step ^ now.${name}) * 0x100000001b3ULL;`).join(' ')
}

function hashOf(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex')
  return `0x${hash.slice(0, 16)}ULL`
}

function actionsOf(model: Model, scenario: Scenario, process: string): readonly Action[] {
  const all = Object.fromEntries(model.actions.map((action) => [action.name, action]))
  for (const name of scenario.without ?? []) known(all, name, model)
  const own = model.actions.filter(({ by }) => by === process)
  if (own.length === 0) throw new Error(`the model "${model.name}" has no process "${process}"`)
  return own.filter(({ name }) => !scenario.without?.includes(name))
}

/** A misspelt name would search less than was meant. */
function known<T>(things: Readonly<Record<string, T>>, name: string, model: Model): T {
  const thing = things[name]
  if (thing === undefined) throw new Error(`the model "${model.name}" has no "${name}"`)
  return thing
}

function startingWith(
  model: Model,
  { initially = {} }: Scenario,
): Readonly<Record<string, Variable>> {
  return Object.fromEntries(
    Object.entries(initially).map(([name, values]) => [
      name,
      { ...known(model.variables, name, model), initially: values },
    ]),
  )
}

function choices(values: Readonly<Record<string, Variable>>): readonly string[] {
  return Object.entries(values)
    .filter(([, { initially }]) => initially.length > 1)
    .map(
      ([name, { initially }]) =>
        `  if ${initially.map((value) => `:: ${name} = ${value}`).join(' ')} fi;`,
    )
}
