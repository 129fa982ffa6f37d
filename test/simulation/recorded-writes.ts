import { readRoster } from '../../src/engine/configuration/config-keys.js'
import type { Backend, DenylistEntry } from '../../src/ports/backend.js'
import type { Doc } from '../../src/ports/store.js'
import type { Ending, Recorded, Revised, Rotation } from './history.js'
import { shop } from './shop.js'

/** What is told of the writes of a store. */
export interface WriteNotes {
  /** Every document and every change that a write was asked for. */
  note(text: string): void
  /** A refresh family that moved on. */
  rotated(rotation: Rotation): void
  /** An audit record that was written. */
  recorded(record: Recorded): void
  opened(session: string): void
  /** A step in the end of a session. */
  ended(ending: Ending): void
  /** A revision of the shop's configuration that was written. */
  revised(revision: Omit<Revised, 'step' | 'at'>): void
}

const shopId = `${shop.name}/production`

/** Null for a document that is no environment of the shop. */
function revisionOf(doc: object): Omit<Revised, 'step' | 'at'> | null {
  const [id, revision, values]: readonly unknown[] = ['id', 'revision', 'values'].map((key) =>
    Reflect.get(doc, key),
  )
  if (id !== shopId || typeof revision !== 'number') return null
  const texts: Readonly<Record<string, string>> = Object(values)
  return { revision, text: texts['sender'] ?? '', roster: readRoster('hooks', texts) }
}

/** The sessions of the client surface that are listed. */
function listed(entries: readonly DenylistEntry[]): readonly string[] {
  const prefix = 'client:session:'
  return entries.flatMap(({ id }) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : []))
}

const families = 'client_refresh_tokens'

const isRevokedFamily = (collection: string, after: Doc | null): boolean =>
  collection === families && after !== null && (Reflect.get(after, 'revokedAt') ?? null) !== null

/** The same backend, which tells of its writes. */
export function recordedWrites(
  backend: Backend,
  { note, rotated, recorded, revised, opened, ended }: WriteNotes,
): Backend {
  return {
    ...backend,
    denylist: {
      ...backend.denylist,
      async put(entries) {
        await backend.denylist.put(entries)
        for (const session of listed(entries)) ended({ kind: 'deny', session })
      },
    },
    store: {
      ...backend.store,
      collection(spec) {
        const inner = backend.store.collection(spec)
        return {
          ...inner,
          async insert(doc) {
            note(JSON.stringify(doc))
            const isWritten = await inner.insert(doc)
            if (isWritten && spec.name === families) opened(doc.id)
            if (isWritten && spec.name.endsWith('_audit_records')) {
              const [action, targetId] = [Reflect.get(doc, 'action'), Reflect.get(doc, 'targetId')]
              recorded({ action: String(action), targetId: String(targetId) })
            }
            return isWritten
          },
          async update(id, guard, set) {
            note(JSON.stringify(set))
            const after = await inner.update(id, guard, set)
            if (isRevokedFamily(spec.name, after)) ended({ kind: 'revoke', session: id })
            const generation: unknown = Reflect.get(set, 'generation')
            const rotatedTo: unknown = Reflect.get(set, 'rotatedTo')
            const revision = after === null ? null : revisionOf(after)
            if (revision !== null) revised(revision)
            if (after !== null && typeof generation === 'number' && typeof rotatedTo === 'string') {
              rotated({ session: id, generation, rotatedTo })
            }
            return after
          },
        }
      },
    },
  }
}
