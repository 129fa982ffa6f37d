import { expect } from 'vitest'
import { uuidv7 } from '../../../src/crypto/secrets.js'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { AnyCollectionSpec, CollectionSpec, Doc } from '../../../src/ports/store.js'
import { systemRandom } from '../../../src/system/machine.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { person } from '../../support/people/people.js'
import { afterwards, deleteUser, sweepOnce } from './deletions.js'

/** What may outlive an account, and why. Whatever else is declared has to go with it. */
const stays: Readonly<Record<string, string>> = {
  audit_records: 'kept for as long as anybody’s; they name an id and no name or address',
  webhook_deliveries: 'events on their way, for a day at most; ids as well',
  roles: 'nobody’s; who holds them goes',
  modules: 'nobody’s',
  module_environments: 'nobody’s',
  module_revisions: 'what was configured, and the id of who did',
}

const now = Date.UTC(2026, 0, 1)

/** A document of somebody, made of the declaration alone. */
function made({ fields, expires }: AnyCollectionSpec, id: string, userId: string): Doc {
  const memberOf = (name: string, { kind, nullable }: AnyCollectionSpec['fields'][string]) => {
    if (name === 'userId' || name === 'accountId') return userId
    if (nullable) return null
    // An index may allow each number once.
    const integer = Number.parseInt(id.slice(-8), 16)
    return { text: `text-${id}`, integer, boolean: true, time: now, json: [] }[kind]
  }
  const members = Object.entries(fields).map(([name, field]) => [name, memberOf(name, field)])
  const expiresAt = expires === 'never' ? null : now + 24 * 3_600_000
  return { id, expiresAt, ...Object.fromEntries(members) }
}

/** Two documents where it can be found by its owner; else the one that has the owner’s id. */
function idsIn({ indexes }: AnyCollectionSpec, userId: string): readonly string[] {
  const byOwner = indexes.some(({ on: [first] }) => first === 'userId' || first === 'accountId')
  return byOwner ? [newId(), newId()] : [userId]
}

const newId = (): string => uuidv7(now, systemRandom)

eachSampleStore.describe('what a deletion leaves behind', (kind) => {
  eachSurface.it('is nothing, of every collection declared', async (surface) => {
    const host = await openHost({}, kind)
    const [who, other] = [await person(host, surface), await person(host, surface)]
    const specs = allCollectionSpecs('').filter(({ name }) => {
      const base = name.replace(/^(operator|client)_/, '')
      const isHere = name.startsWith(surface) || base === name
      return isHere && !(base in stays) && !/users$|account_deletions$/.test(base)
    })
    expect(specs.length).toBeGreaterThan(14)
    const placed = specs.flatMap((spec) => {
      // Its members are known to the declaration alone.
      const collection = host.backend.store.collection(spec as CollectionSpec<Doc>)
      return [who, other].flatMap(({ id: owner }) =>
        idsIn(spec, owner).map((id) => ({ spec, collection, id, owner })),
      )
    })
    for (const { spec, collection, id, owner } of placed) {
      expect([spec.name, await collection.insert(made(spec, id, owner))]).toEqual([spec.name, true])
    }
    expect(await deleteUser(host, surface, who.id)).toBe(true)
    const left = []
    for (const { spec, collection, id, owner } of placed) {
      if ((await collection.get(id)) !== null) left.push([spec.name, owner])
    }
    const others = placed.filter(({ owner }) => owner === other.id)
    expect(left).toEqual(others.map(({ spec, owner }) => [spec.name, owner]))
    expect(await host.auth[surface].users.get(who.id)).toBeNull()

    await host.clock.advance(afterwards)
    await sweepOnce(host, surface)
    const note = await storedIn(host, surface).accountDeletions.get(who.id)
    expect(note).toMatchObject({ actorId: null, expiresAt: null })
  })
})
