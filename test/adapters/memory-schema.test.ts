import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { AnyCollectionSpec, Doc, FieldSpec, Store } from '../../src/ports/store.js'

function spec(
  fields: Readonly<Record<string, FieldSpec>>,
  changes: Partial<AnyCollectionSpec> = {},
): AnyCollectionSpec {
  return { name: 'users', fields, indexes: [], expires: 'never', ...changes }
}

/** Any document, so that specs can be wrong in any way. */
interface Loose extends Doc {
  readonly [field: string]: unknown
}

const bind = (store: Store, of: AnyCollectionSpec) => store.collection<Loose>(of)

const email: FieldSpec = { kind: 'text' }

describe('collection specs are checked when they are bound', () => {
  it.each<[string, AnyCollectionSpec, string]>([
    ['a name with a capital', spec({}, { name: 'Users' }), 'collection "Users": names are'],
    ['a name that ends in "_"', spec({}, { name: 'users_' }), 'names are'],
    ['a field called id', spec({ id: email }), '"id" cannot be'],
    ['a field in snake case', spec({ e_mail: email }), '"e_mail" cannot be'],
    ['an index on nothing', spec({ email }, { indexes: [{ on: [] }] }), 'names no field'],
    [
      'an index on what is not declared',
      spec({ email }, { indexes: [{ on: ['mail'] }] }),
      'collection "users", index on mail: "mail" is not declared',
    ],
    [
      'an index on json',
      spec({ email: { kind: 'json' } }, { indexes: [{ on: ['email'] }] }),
      'json',
    ],
    ['an index on id', spec({}, { indexes: [{ on: ['id'] }] }), 'is the key already'],
    [
      'an index with a field twice',
      spec({ email }, { indexes: [{ on: ['email', 'email'] }] }),
      'names a field twice',
    ],
    [
      'two indexes on the same fields',
      spec({ email }, { indexes: [{ on: ['email'] }, { on: ['email'], unique: true }] }),
      'two indexes on email',
    ],
    [
      'a unique index on a nullable field',
      spec(
        { email: { kind: 'text', nullable: true } },
        { indexes: [{ on: ['email'], unique: true }] },
      ),
      'unique, but "email" is nullable',
    ],
    [
      'an index on the expiry of what never expires',
      spec({}, { indexes: [{ on: ['expiresAt'] }] }),
      'always null',
    ],
    [
      'a default of another kind',
      spec({ email: { kind: 'text', default: 5 } }),
      '"email" must be a string',
    ],
  ])('%s is refused', (_name, wrong, message) => {
    expect(() => bind(memory().store, wrong)).toThrow(TypeError)
    expect(() => bind(memory().store, wrong)).toThrow(message)
  })

  it('also where another spec with the very same fields was fine', () => {
    const { store } = memory()
    const fields = { email }
    const indexes = [{ on: ['email'] }]
    bind(store, spec(fields, { indexes }))
    const bound = (changes: Partial<AnyCollectionSpec>) => () =>
      bind(store, spec(fields, { indexes, ...changes }))
    expect(bound({ name: 'Users' })).toThrow('collection "Users": names are')
    expect(bound({ indexes: [{ on: ['mail'] }] })).toThrow('"mail" is not declared')
    expect(bound({ retiredIndexes: [{ on: ['email'] }] })).toThrow('two indexes on email')
  })

  it('an expiry of its own holds where another spec with the very same fields has another', async () => {
    const { store } = memory()
    const fields = { email }
    const indexes: AnyCollectionSpec['indexes'] = []
    bind(store, spec(fields, { indexes }))
    const swept = bind(store, spec(fields, { indexes, expires: 'fixed' }))
    await swept.insert({ id: 'a', email: 'a@example.test', expiresAt: 1 })
    expect(await swept.sweep(2, 10)).toMatchObject({ removed: 1 })
  })

  it('messages name the field and its kind, never the value', async () => {
    const users = bind(memory().store, spec({ email }))
    const secret = { id: 'a', email: 's3cret\0', expiresAt: null }
    await expect(users.insert(secret)).rejects.toThrow(
      'users.insert: "email" must be a string without NUL and lone surrogates',
    )
    await expect(users.insert(secret)).rejects.not.toThrow('s3cret')
  })
})

describe('memory keeps one schema a collection, as a database does', () => {
  it('refuses a field that comes back as another kind', () => {
    const { store } = memory()
    bind(store, spec({ email }))
    expect(() => bind(store, spec({ email: { kind: 'integer' } }))).toThrow('another kind')
    expect(() => bind(store, spec({ email: { kind: 'text', nullable: true } }))).toThrow(
      'another kind',
    )
  })

  it('refuses a new field that documents already stored could not have', async () => {
    const { store } = memory()
    await bind(store, spec({})).insert({ id: 'a', expiresAt: null })
    expect(() => bind(store, spec({ email }))).toThrow('needs a default')
  })

  it('refuses a unique index that documents already stored would break', async () => {
    const { store } = memory()
    const users = bind(store, spec({ email }))
    for (const id of ['a', 'b']) await users.insert({ id, expiresAt: null, email: 'x' })
    const unique = spec({ email }, { indexes: [{ on: ['email'], unique: true }] })
    expect(() => bind(store, unique)).toThrow('not unique by email')
  })

  it('a call resolves later, never at once', async () => {
    const users = bind(memory().store, spec({}))
    let resolved = false
    const call = users.get('a').then(() => {
      resolved = true
    })
    expect(resolved).toBe(false)
    await call
  })

  it('two backends share nothing', async () => {
    const [one, two] = [memory(), memory()]
    await bind(one.store, spec({})).insert({ id: 'a', expiresAt: null })
    await one.counter.hit('k', 1000, 5, 0)
    await one.denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
    await one.lease.replace('l', null, { owner: 'a', renewal: 1 })
    expect(await bind(two.store, spec({})).get('a')).toBe(null)
    expect((await two.counter.hit('k', 1000, 5, 0)).count).toBe(1)
    expect(await two.denylist.find(['x'])).toEqual([])
    expect(await two.lease.read('l')).toBe(null)
  })
})
