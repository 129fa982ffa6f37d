import type { Backend } from '../../ports/backend.js'
import type { Collection, CollectionSpec, Doc, Page } from '../../ports/store.js'
import { type BackendSubject, uniqueName } from './conformance-case.js'

/** A document with a field of every kind, nullable and not. */
export interface Sample extends Doc {
  readonly email: string
  readonly realm: string
  readonly handle: string
  readonly team: string | null
  /** The one text that no index names. */
  readonly note: string | null
  readonly enabled: boolean
  readonly count: number
  readonly score: number | null
  readonly bornAt: number
  readonly seenAt: number | null
  readonly data: unknown
}

/** The calls of a collection without their types, to pass what the types would refuse. */
export interface LooseCollection {
  find(equal: object, page: Page): Promise<unknown>
  insert(doc: object): Promise<unknown>
  update(id: string, guard: object, set: object): Promise<unknown>
  take(id: string, guard?: object): Promise<unknown>
}

export interface StoreSetup {
  readonly backend: Backend
  /** A fresh, empty collection with `sliding` expiry. */
  readonly samples: Collection<Sample>
  /** Another fresh one. */
  open(expires: CollectionSpec<Sample>['expires']): Promise<Collection<Sample>>
}

export function sampleSpec(expires: CollectionSpec<Sample>['expires']): CollectionSpec<Sample> {
  return {
    name: `kit_${uniqueName()}`,
    fields: {
      email: { kind: 'text' },
      realm: { kind: 'text' },
      handle: { kind: 'text' },
      team: { kind: 'text', nullable: true },
      note: { kind: 'text', nullable: true },
      enabled: { kind: 'boolean' },
      count: { kind: 'integer' },
      score: { kind: 'integer', nullable: true },
      bornAt: { kind: 'time' },
      seenAt: { kind: 'time', nullable: true },
      data: { kind: 'json' },
    },
    indexes: [
      { on: ['email'], unique: true },
      { on: ['realm', 'handle'], unique: true },
      { on: ['team'] },
      { on: ['enabled', 'count'] },
    ],
    expires,
  }
}

/** A document whose unique fields follow from its id. */
export function sample(id: string, changes: Partial<Sample> = {}): Sample {
  return {
    id,
    expiresAt: null,
    email: `${id}@example.test`,
    realm: 'main',
    handle: id,
    team: null,
    note: null,
    enabled: true,
    count: 0,
    score: null,
    bornAt: Date.UTC(2030, 0, 1),
    seenAt: null,
    data: {},
    ...changes,
  }
}

export async function storeSetup({ backend }: BackendSubject): Promise<StoreSetup> {
  const open: StoreSetup['open'] = async (expires) => {
    const spec = sampleSpec(expires)
    await backend.store.prepare([spec])
    return backend.store.collection(spec)
  }
  return { backend, samples: await open('sliding'), open }
}

/** Inserts documents that are expected to fit. */
export async function fill(samples: Collection<Sample>, docs: readonly Sample[]): Promise<void> {
  for (const doc of docs) {
    const isStored = await samples.insert(doc)
    if (!isStored) throw new Error(`insert of ${JSON.stringify(doc.id)} answered false`)
  }
}
