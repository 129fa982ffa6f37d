import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/sqlite/index.js'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../../src/ports/store.js'
import { type Documents, documentsIn, type Facts, goldenLife } from './golden-life.js'
import { type Physical, type PhysicalStore, physicalStores } from './physical-stores.js'
import { readRows } from './read-rows.js'

/** The release whose rows these are. They stay as they are: a later release adds a folder of its own. */
const release = new URL('0.1.0/', import.meta.url)

const written = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`${name}.json`, release), 'utf8'))

const write = (name: string, value: unknown): void => {
  mkdirSync(release, { recursive: true })
  // A row on a line.
  const lines = JSON.stringify(value, null, 1).replaceAll(/\n {3,}\s*/g, '')
  writeFileSync(new URL(`${name}.json`, release), `${lines}\n`)
}

async function opened(open: (() => Promise<PhysicalStore>) | null): Promise<PhysicalStore> {
  if (open === null) throw new Error('no server')
  const store = await open()
  onTestFinished(() => store.close())
  return store
}

/** The documents as a store hands them out today: fields that came later have their defaults. */
function today(documents: Documents): Documents {
  const whole = allCollectionSpecs('').flatMap(({ name, fields }): [string, readonly Doc[]][] => {
    const later = Object.entries(fields).filter(([, field]) => 'default' in field)
    const defaults = Object.fromEntries(later.map(([field, { default: value }]) => [field, value]))
    const found = documents[name]
    return found === undefined ? [] : [[name, found.map((one) => ({ ...defaults, ...one }))]]
  })
  return Object.fromEntries(whole)
}

/** Hands every document to the store as the library does. */
async function fill({ store }: Backend, documents: Documents): Promise<void> {
  const specs = allCollectionSpecs('')
  await store.prepare(specs)
  const whole = today(documents)
  for (const spec of specs) {
    const collection = store.collection(spec as CollectionSpec<Doc>)
    for (const document of whole[spec.name] ?? []) await collection.insert(document)
  }
}

/** Plays the life, and writes what each store makes of its documents. All stores have to be there. */
async function renew(): Promise<void> {
  const database = new DatabaseSync(':memory:')
  const idsOf = (name: string): readonly string[] =>
    database
      .prepare(`select id from "${name}" order by id`)
      .all()
      .map(({ id }) => String(id))
  const { facts, documents } = await goldenLife(sqlite(database), idsOf)
  write('facts', facts)
  write('documents', documents)
  for (const [name, open] of Object.entries(physicalStores)) {
    const store = await opened(open)
    await fill(store.backend, documents)
    write(name, await store.read())
  }
}

if (process.env['GOLDENS'] === 'write') it('the goldens are written', renew)

/** No life leads here without a server that fails: what is stored is in stable-forms.txt. */
const unseen = ['webhook_deliveries']

describe('the documents of the release', () => {
  it('are of every collection, on one surface at least', () => {
    const documents = written<Documents>('documents')
    const bare = (name: string): string => name.replace(/^(operator|client)_/, '')
    const seen = new Set(Object.keys(documents).map(bare))
    const all = new Set(allCollectionSpecs('').map(({ name }) => bare(name)))
    expect([...all].filter((name) => !seen.has(name))).toEqual(unseen)
  })
})

/** What stores note of the tables and fields that they have prepared. The next release reads it, and adds to it. */
const notes = /^postern_migrations$|:s$/

describe.each(Object.entries(physicalStores))('%s', (name, open) => {
  const title = open === null ? ` (${name} not found)` : ''

  it.skipIf(open === null)(`writes the rows that the release wrote${title}`, async () => {
    const store = await opened(open)
    await fill(store.backend, written('documents'))
    const before = Object.entries(written<Physical>(name).rows).filter(([row]) => !notes.test(row))
    expect(before.length).toBeGreaterThan(25)
    // Fields may come to them. Nothing goes, and nothing is written in another way.
    expect((await store.read()).rows).toMatchObject(Object.fromEntries(before))
  })

  it.skipIf(open === null)(`reads them, and lets their people in${title}`, async () => {
    const store = await opened(open)
    await store.put(written(name))
    const documents = written<Documents>('documents')
    await store.backend.store.prepare(allCollectionSpecs(''))
    const idsOf = (collection: string) => (documents[collection] ?? []).map(({ id }) => id)
    expect(await documentsIn(store.backend, idsOf)).toEqual(today(documents))
    await readRows(store.backend, written<Facts>('facts'))
  })
})
