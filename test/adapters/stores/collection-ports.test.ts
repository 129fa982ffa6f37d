import type { Backend, Store } from 'postern'
import { memory } from 'postern/memory'
import {
  allCollectionSpecs,
  collectionCounter,
  collectionDenylist,
  collectionLease,
  counterSpec,
  denylistSpec,
  leaseSpec,
} from 'postern/stores'
import { expect, it } from 'vitest'
import { conformance } from '../../../src/testing/index.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { testEach } from '../../support/stores/each-case.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

/** All four ports on the one that an author has to write. */
function backendOf(store: Store): Backend {
  const own = [denylistSpec, leaseSpec, counterSpec]
  return {
    store: {
      collection: (spec) => store.collection(spec),
      prepare: (specs) => store.prepare([...own, ...specs]),
    },
    denylist: collectionDenylist(store.collection(denylistSpec)),
    lease: collectionLease(store.collection(leaseSpec)),
    counter: collectionCounter(store.collection(counterSpec)),
  }
}

const kept = memory()

testEach(
  'denylist, lease and counter on a collection',
  conformance({
    // The memory store's own names begin with `postern_`, so another prefix stands in a database of its own.
    open: ({ through }) => ({ backend: backendOf(through(kept.store)) }),
  }),
)

/** A denylist with an entry that has expired, which a sweep takes away between the two writes of the next `put`. */
async function sweptBetween() {
  const faulty = faultyBackend(memory())
  const entries = faulty.backend.store.collection(denylistSpec)
  await faulty.backend.store.prepare([denylistSpec])
  const denylist = collectionDenylist(entries)
  const entry = (expiresAt: number) => ({ id: 's-1', reason: 'revoked' as const, expiresAt })
  await denylist.put([entry(1000)])
  faulty.onCall(`${denylistSpec.name}.update`, async () => {
    await entries.sweep(2000, 9)
  })
  return { faulty, entries, denylist, entry }
}

it('puts an entry again that a sweep took away between its two writes', async () => {
  const { denylist, entry } = await sweptBetween()
  await denylist.put([entry(9000)])
  expect(await denylist.find(['s-1'])).toMatchObject([{ expiresAt: 9000 }])
})

it('puts the later expiry where an earlier one came between its two writes', async () => {
  const { faulty, entries, denylist, entry } = await sweptBetween()
  faulty.onCall(`${denylistSpec.name}.get`, async () => {
    await entries.insert(entry(3000))
  })
  await denylist.put([entry(9000)])
  expect(await denylist.find(['s-1'])).toMatchObject([{ expiresAt: 9000 }])
})

it('serves the whole library', async () => {
  const { auth } = await testAuth({ backend: backendOf(memory().store) })
  await auth.migrate()
  const { id } = await auth.client.users.create({ email: 'ada@example.org' })
  expect(await auth.client.users.get(id)).toMatchObject({ id })
})

it('names every collection that a store has to prepare', () => {
  const names = allCollectionSpecs('acme_').map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toContain('acme_client_users')
  expect(names).toContain('acme_operator_refresh_tokens')
})
