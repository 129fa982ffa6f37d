import type { Backend } from '../../src/ports/backend.js'
import type { Rotation } from './history.js'

/** What is told of the writes of a store. */
export interface WriteNotes {
  /** Every document and every change that a write was asked for. */
  note(text: string): void
  /** A refresh family that moved on. */
  rotated(rotation: Rotation): void
}

/** The same backend, which tells of its writes. */
export function recordedWrites(backend: Backend, { note, rotated }: WriteNotes): Backend {
  return {
    ...backend,
    store: {
      ...backend.store,
      collection(spec) {
        const inner = backend.store.collection(spec)
        return {
          ...inner,
          insert(doc) {
            note(JSON.stringify(doc))
            return inner.insert(doc)
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
