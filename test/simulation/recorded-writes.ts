import type { Backend } from '../../src/ports/backend.js'
import type { Recorded, Rotation } from './history.js'

/** What is told of the writes of a store. */
export interface WriteNotes {
  /** Every document and every change that a write was asked for. */
  note(text: string): void
  /** A refresh family that moved on. */
  rotated(rotation: Rotation): void
  /** An audit record that was written. */
  recorded(record: Recorded): void
}

/** The same backend, which tells of its writes. */
export function recordedWrites(backend: Backend, { note, rotated, recorded }: WriteNotes): Backend {
  return {
    ...backend,
    store: {
      ...backend.store,
      collection(spec) {
        const inner = backend.store.collection(spec)
        return {
          ...inner,
          async insert(doc) {
            note(JSON.stringify(doc))
            const isWritten = await inner.insert(doc)
            if (isWritten && spec.name.endsWith('_audit_records')) {
              const [action, targetId] = [Reflect.get(doc, 'action'), Reflect.get(doc, 'targetId')]
              recorded({ action: String(action), targetId: String(targetId) })
            }
            return isWritten
          },
          async update(id, guard, set) {
            note(JSON.stringify(set))
            const after = await inner.update(id, guard, set)
            const generation: unknown = Reflect.get(set, 'generation')
            const rotatedTo: unknown = Reflect.get(set, 'rotatedTo')
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
