import { describe, expect, expectTypeOf, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import {
  allCollectionSpecs,
  type CollectionEntry,
  type Collections,
  collectionsOf,
  removedBy,
  surfaceCollections,
  sweptBy,
} from '../../src/model/collections.js'
import { rolesSpec } from '../../src/model/permissions.js'
import type { Collection, Doc } from '../../src/ports/store.js'

const whole = { name: 'notes', spec: rolesSpec, sweep: 'never', removal: 'kept' } as const

describe('the record of collections', () => {
  it('takes no entry that lacks a part', () => {
    expectTypeOf(whole).toExtend<CollectionEntry>()
    expectTypeOf<Omit<typeof whole, 'name'>>().not.toExtend<CollectionEntry>()
    expectTypeOf<Omit<typeof whole, 'spec'>>().not.toExtend<CollectionEntry>()
    expectTypeOf<Omit<typeof whole, 'sweep'>>().not.toExtend<CollectionEntry>()
    expectTypeOf<Omit<typeof whole, 'removal'>>().not.toExtend<CollectionEntry>()
    // What compiles by no other word: an entry that forgets its sweep.
    // @ts-expect-error the sweep is missing
    const forgetful: CollectionEntry = { name: 'notes', spec: rolesSpec, removal: 'kept' }
    expect(forgetful).not.toHaveProperty('sweep')
  })

  it('removes by user id from no collection whose documents name no user', () => {
    const { roles, roleBindings } = collectionsOf(memory().store, 'client', '')
    type Owned = Doc & { readonly userId: string }
    expectTypeOf(roleBindings).toExtend<Collection<Owned>>()
    expectTypeOf(roles).not.toExtend<Collection<Owned>>()
  })

  it('types each collection by its spec, and lets nothing change an audit record', () => {
    expectTypeOf<keyof Collections>().toEqualTypeOf<keyof typeof surfaceCollections>()
    expectTypeOf<keyof Collections['auditRecords']>().toEqualTypeOf<'insert' | 'find' | 'sweep'>()
    expectTypeOf<Collections['families']>().not.toEqualTypeOf<Collections['sessions']>()
  })

  it('opens each collection under the name that prepare is given', async () => {
    const bound: string[] = []
    const { store } = memory()
    const watched: typeof store = {
      ...store,
      collection(spec) {
        bound.push(spec.name)
        return store.collection(spec)
      },
    }
    for (const surface of ['operator', 'client'] as const) collectionsOf(watched, surface, 'acme_')
    const prepared = allCollectionSpecs('acme_').map(({ name }) => name)
    expect(prepared.slice(0, bound.length)).toEqual(bound)
    expect(new Set(prepared).size).toBe(prepared.length)
    expect(prepared.slice(bound.length)).toEqual([
      'acme_operator_modules',
      'acme_operator_module_environments',
      'acme_operator_module_revisions',
      'acme_service_account_credentials',
    ])
  })

  it('sweeps in this order', () => {
    expect(sweptBy('tokens')).toEqual(['families'])
    expect(sweptBy('hygiene')).toEqual([
      ...['sessions', 'knownLogins', 'pendingRegistrations', 'intents', 'auditRecords'],
      ...['challenges', 'stepUpProofs', 'trustedDevices'],
    ])
  })

  it('removes with an account in this order, sessions after families', () => {
    expect(removedBy('byUserId')).toEqual([
      ...['families', 'knownLogins', 'intents', 'challenges', 'stepUpProofs', 'trustedDevices'],
      ...['oauthIdentities', 'passkeys', 'roleBindings'],
    ])
    expect(removedBy('byId')).toEqual([
      'pendingRegistrations',
      'totpFactors',
      'backupCodes',
      'passwordHistories',
    ])
    expect(removedBy('last')).toEqual(['sessions'])
  })

  it('sweeps what expires, and nothing else', () => {
    for (const { name, spec, sweep } of Object.values(surfaceCollections)) {
      expect([name, sweep !== 'never']).toEqual([name, /^(fixed|sliding)$/.test(spec.expires)])
    }
  })
})
