import type { Backend } from '../../../src/ports/backend.js'
import type { AnyCollectionSpec, MigrationStep, Store } from '../../../src/ports/store.js'
import type { WrongAdapter } from './wrong-adapter.js'

type Plan = NonNullable<Store['plan']>

/** What a store knows of what was prepared. */
interface Prepared {
  /** The steps of these collections that are left. */
  readonly left: (specs: readonly AnyCollectionSpec[]) => readonly MigrationStep[]
  readonly all: (specs: readonly AnyCollectionSpec[]) => readonly MigrationStep[]
  readonly prepare: Store['prepare']
}

const nameStep = (name: string): MigrationStep => ({ name, statement: null, blocks: 0 })

function stepsOf({ name, fields }: AnyCollectionSpec): readonly MigrationStep[] {
  return ['table', ...Object.keys(fields)].map((part) => nameStep(`${name}/${part}`))
}

/** The store with a plan of fields, which `planned` makes of what was prepared. */
function planning(right: Backend, planned: (prepared: Prepared) => Plan): Partial<Backend> {
  const done = new Set<string>()
  const all: Prepared['all'] = (specs) => specs.flatMap(stepsOf)
  const prepared: Prepared = {
    all,
    left: (specs) => all(specs).filter(({ name }) => !done.has(name)),
    async prepare(specs) {
      await right.store.prepare(specs)
      for (const { name } of all(specs)) done.add(name)
    },
  }
  return { store: { ...right.store, prepare: prepared.prepare, plan: planned(prepared) } }
}

/** A store whose plan keeps its promise. */
export function rightlyPlanned(right: Backend): Backend {
  return {
    ...right,
    ...planning(
      right,
      ({ left }) =>
        async (specs) =>
          left(specs),
    ),
  }
}

const found = ['a plan names what prepare would do, and does none of it']

export const wrongPlans: readonly WrongAdapter[] = [
  {
    fault: 'a plan that names nothing',
    found,
    twist: (right) => planning(right, () => async () => []),
  },
  {
    fault: 'a plan that does what it names',
    found,
    twist: (right) =>
      planning(right, ({ left, prepare }) => async (specs) => {
        const steps = left(specs)
        await prepare(specs)
        return steps
      }),
  },
  {
    fault: 'a plan that names what is done',
    found,
    twist: (right) =>
      planning(
        right,
        ({ all }) =>
          async (specs) =>
            all(specs),
      ),
  },
  {
    fault: 'a plan that overlooks what is new in a collection',
    found,
    twist: (right) =>
      planning(
        right,
        ({ left }) =>
          async (specs) =>
            left(specs).filter(({ name }) => name.endsWith('/table')),
      ),
  },
]
