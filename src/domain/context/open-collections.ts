import { sha256 } from '../../crypto/secrets.js'
import { longestId } from '../../engine/text.js'
import { type Collections, collectionsOf } from '../../model/collections.js'
import type { Passkey, StoredPasskey } from '../../model/factors.js'
import type { Collection, Store } from '../../ports/store.js'
import type { Surface } from '../../ports/surface.js'

/** The id of a passkey's document. No credential's id holds a colon, so none is that of another document. */
function keyOf(credentialId: string): string {
  return credentialId.length > longestId ? `sha256:${sha256(credentialId)}` : credentialId
}

/** The collections of one surface, with passkeys by the ids of their credentials. */
export function openCollections(store: Store, surface: Surface, prefix: string): Collections {
  const stored = collectionsOf(store, surface, prefix)
  return { ...stored, passkeys: byCredentialId(stored.passkeys) }
}

function byCredentialId(stored: Collection<StoredPasskey>): Collection<Passkey> {
  return {
    get: async (id) => readOrNull(await stored.get(keyOf(id))),
    find: async (equal, { after, ...page }) =>
      (await stored.find(equal, after === undefined ? page : { ...page, after: keyOf(after) })).map(
        read,
      ),
    insert(passkey) {
      const id = keyOf(passkey.id)
      return stored.insert({ ...passkey, id, credentialId: id === passkey.id ? null : passkey.id })
    },
    update: async (id, guard, set) => readOrNull(await stored.update(keyOf(id), guard, set)),
    take: async (id, guard) => readOrNull(await stored.take(keyOf(id), guard)),
    due: async (before, limit) => (await stored.due(before, limit)).map(read),
    sweep: (before, limit) => stored.sweep(before, limit),
  }
}

function read({ credentialId, ...passkey }: StoredPasskey): Passkey {
  return { ...passkey, id: credentialId ?? passkey.id }
}

function readOrNull(stored: StoredPasskey | null): Passkey | null {
  return stored && read(stored)
}
