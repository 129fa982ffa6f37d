import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { allCollectionSpecs, collectionNames } from '../../src/model/collections.js'
import type { Store } from '../../src/ports/store.js'
import { splitStore } from '../../src/stores/split-store.js'

const surfaces = ['operator', 'client'] as const
const bothOf = (...names: readonly string[]) =>
  surfaces.flatMap((surface) => names.map((name) => `${surface}_${name}`)).sort()

interface Watched {
  readonly store: Store
  readonly bound: string[]
  /** The names each call of `prepare` was given. */
  readonly prepared: (readonly string[])[]
}

function watched(): Watched {
  const inner = memory().store
  const bound: string[] = []
  const prepared: (readonly string[])[] = []
  const store: Store = {
    collection(spec) {
      bound.push(spec.name)
      return inner.collection(spec)
    },
    async prepare(specs) {
      prepared.push(specs.map(({ name }) => name).sort())
      await inner.prepare(specs)
    },
  }
  return { store, bound, prepared }
}

describe('splitStore', () => {
  it('knows every collection by the name of its tables', () => {
    const names = allCollectionSpecs('').map(({ name }) => name.replace(/^(operator|client)_/, ''))
    expect([...collectionNames].sort()).toEqual([...new Set(names)].sort())
  })

  it.each(['', 'acme_', 'client_users_'])(
    'with the prefix "%s" each collection is where it was put',
    async (prefix) => {
      const [main, tokens, records] = [watched(), watched(), watched()]
      const store = splitStore({
        default: main.store,
        overrides: {
          refresh_tokens: tokens.store,
          challenges: tokens.store,
          audit_records: records.store,
        },
      })
      const specs = allCollectionSpecs(prefix)
      await store.prepare(specs)
      for (const spec of specs) store.collection({ ...spec, indexes: [] })
      const prefixed = (...names: readonly string[]) =>
        bothOf(...names).map((name) => prefix + name)
      const expected = [
        [tokens, prefixed('challenges', 'refresh_tokens')],
        [records, prefixed('audit_records')],
      ] as const
      const elsewhere = expected.flatMap(([, names]) => names)
      const rest = specs.map(({ name }) => name).filter((name) => !elsewhere.includes(name))
      expect([main.bound.sort(), main.prepared]).toEqual([rest.sort(), [rest]])
      for (const [where, names] of expected) {
        expect(where.bound.sort()).toEqual(names)
        expect(where.prepared, 'prepared once, with its own').toEqual([names])
      }
    },
  )

  it('prepares stores that have nothing to hold, for the other ports of their backend', async () => {
    const [main, tokens] = [watched(), watched()]
    await splitStore({ default: main.store, overrides: { challenges: tokens.store } }).prepare([])
    expect([main.prepared, tokens.prepared]).toEqual([[[]], [[]]])
  })

  it('rejects when one of the stores cannot be prepared', async () => {
    const down = { ...memory().store, prepare: async () => Promise.reject(new Error('down')) }
    const store = splitStore({ default: memory().store, overrides: { challenges: down } })
    await expect(store.prepare(allCollectionSpecs(''))).rejects.toThrow('down')
  })

  it.each<[string, object, string]>([
    [
      'a name with the surface',
      { overrides: { client_challenges: memory().store } },
      'overrides.client_challenges',
    ],
    ['a name of the code', { overrides: { families: memory().store } }, 'overrides.families'],
    ['an inherited name', { overrides: { constructor: memory().store } }, 'overrides.constructor'],
    ['a backend', { overrides: { challenges: memory() } }, 'overrides.challenges'],
    ['half a store', { overrides: { challenges: { collection() {} } } }, 'overrides.challenges'],
    ['nothing', { overrides: { challenges: undefined } }, 'overrides.challenges'],
    ['no default', { default: undefined }, 'default'],
  ])('refuses %s', (_what, wrong, option) => {
    const build = () => splitStore({ default: memory().store, overrides: {}, ...wrong })
    expect(build).toThrow(TypeError)
    expect(build).toThrow(`option "${option}"`)
  })

  it('names the collections when it is given another', () => {
    const overrides: object = { token: memory().store }
    const build = () => splitStore({ default: memory().store, overrides })
    expect(build).toThrow(new RegExp(collectionNames.join(', ')))
  })
})

describe('a plan of splitStore', () => {
  const step = (name: string) => ({ name, statement: null, blocks: 0 })
  const planning = (name: string): Store => ({
    ...memory().store,
    plan: async (specs) => specs.map((spec) => step(`${name}: ${spec.name}`)),
  })

  it('asks each store for what it holds', async () => {
    const overrides = { challenges: planning('fast') }
    const store = splitStore({ default: planning('main'), overrides })
    const specs = allCollectionSpecs('').filter(({ name }) =>
      /^client_(users|challenges)$/.test(name),
    )
    const plan = await store.plan?.(specs)
    expect(plan?.map(({ name }) => name)).toEqual(['main: client_users', 'fast: client_challenges'])
  })

  it('is none where a store shows none: half a plan would pass for a whole one', () => {
    const overrides = { challenges: memory().store }
    expect(splitStore({ default: planning('main'), overrides }).plan).toBeUndefined()
  })
})
