import { readRoster } from '../../src/engine/configuration/config-keys.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Change, Recorded, Revised, Rotation } from './history.js'
import { intentChanges } from './intent-changes.js'
import { listedSessions, openedSession, updatedSession } from './session-changes.js'
import { shop } from './shop.js'

/** What is told of the writes of a store. */
export interface WriteNotes {
  /** Every document and every change that a write was asked for. */
  note(text: string): void
  /** A refresh family that moved on. */
  rotated(rotation: Rotation): void
  /** An audit record that was written. */
  recorded(record: Recorded): void
  /** A write that concerns sessions, intents or the shop's configuration. */
  changed(change: Change): void
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

/** The same backend, which tells of its writes. */
export function recordedWrites(
  backend: Backend,
  { note, rotated, recorded, revised, changed }: WriteNotes,
): Backend {
  const tell = (change: Change | null): void => {
    if (change !== null) changed(change)
  }
  const intents = intentChanges()
  return {
    ...backend,
    denylist: {
      ...backend.denylist,
      async put(entries) {
        await backend.denylist.put(entries)
        tell(listedSessions(entries))
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
            if (isWritten) tell(openedSession(spec.name, doc))
            const after = isWritten ? doc : null
            tell(intents.inserted({ collection: spec.name, id: doc.id, fields: doc, after }))
            if (Reflect.get(doc, 'environmentId') === shopId) tell({ kind: 'record' })
            if (isWritten && spec.name.endsWith('_audit_records')) {
              const [action, targetId] = [Reflect.get(doc, 'action'), Reflect.get(doc, 'targetId')]
              recorded({ action: String(action), targetId: String(targetId) })
            }
            return isWritten
          },
          async update(id, guard, set) {
            note(JSON.stringify(set))
            const after = await inner.update(id, guard, set)
            tell(updatedSession({ collection: spec.name, id, set, after }))
            tell(intents.updated({ collection: spec.name, id, fields: set, after }))
            const generation: unknown = Reflect.get(set, 'generation')
            const rotatedTo: unknown = Reflect.get(set, 'rotatedTo')
            const revision = after === null ? null : revisionOf(after)
            if (id === shopId && 'revision' in set) {
              tell({ kind: 'edit', hit: after !== null, roster: revision?.roster ?? [] })
            }
            if (revision !== null) revised(revision)
            if (after !== null && typeof generation === 'number' && typeof rotatedTo === 'string') {
              rotated({ session: id, generation, rotatedTo })
            }
            return after
          },
          async take(id, guard) {
            const after = await inner.take(id, guard)
            tell(intents.taken({ collection: spec.name, id, fields: guard ?? {}, after }))
            return after
          },
        }
      },
    },
  }
}
