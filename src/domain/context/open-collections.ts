import { sha256 } from '../../crypto/secrets.js'
import { longestProofAge } from '../../engine/duration.js'
import { longestId } from '../../engine/text.js'
import { type Collections, collectionsOf } from '../../model/collections.js'
import type { Passkey, StepUpProof, StoredPasskey } from '../../model/factors.js'
import type { DenylistEntry } from '../../ports/backend.js'
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

/** 24 h covers the longest access token, one minute the largest clock leeway. */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}

/**
 * The first entry for one of these ids that has not expired; null without one.
 */
export function entryInForce(
  entries: readonly DenylistEntry[],
  ids: readonly string[],
  now: number,
): DenylistEntry | null {
  return entries.find(({ id, expiresAt }) => ids.includes(id) && expiresAt > now) ?? null
}

/** The longest age that may be asked for, and the minute by which clocks may differ. Then no proof or login is recent. */
export const proofLifeMs = longestProofAge + 60 * 1000

/**
 * Stands in the place of a session's proof where the session turned up in an unusual place: no epoch is ever below zero, so
 * it is no proof of any. It also says that the login of the session is no recent one any more.
 */
export function voidProof(sessionId: string, userId: string, now: number): StepUpProof {
  const proof = { id: sessionId, userId, method: 'totp', deviceEpoch: -1, provedAt: 0 } as const
  return { ...proof, expiresAt: now + proofLifeMs }
}

export function isVoidProof(proof: StepUpProof | null): boolean {
  return proof !== null && proof.deviceEpoch < 0
}
