import type { CollectionName } from '../../../src/model/collections.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Collection, Doc, Scalar } from '../../../src/ports/store.js'

/** A document as the store has it, of whatever collection. */
export type Fields = Readonly<Record<string, Scalar>>

/** One write of the library, and what another process does to its document just before. */
export interface Faster {
  readonly collection: CollectionName
  readonly write: 'update' | 'take'
  /** Which write of that kind and collection from now on, from 1. */
  readonly nth: number
  readonly field: string
  /** What the field holds from then on. */
  readonly value: (seen: Fields) => Scalar
}

/** What became of the write. */
export type Fate = 'no such write' | 'made' | 'not made'

export interface OtherProcess {
  readonly wrapBackend: (backend: Backend) => Backend
  /** Arms it, for one write. */
  runAhead(faster: Faster): void
  readonly fate: () => Fate
  /** Whether the document still has what the other process wrote; null when the document is gone. */
  stands(): Promise<boolean | null>
}

/** Stands between the library and its store, and plays another process that is faster once. */
export function otherProcess(): OtherProcess {
  let plan: Faster | null = null
  let left = 0
  let fate: Fate = 'no such write'
  let stands: () => Promise<boolean | null> = async () => null

  function isMeant(name: string, write: Faster['write']): boolean {
    if (write !== plan?.write) return false
    // Each collection has one of each surface.
    if (name.replace(/^(operator|client)_/, '') !== plan.collection) return false
    left -= 1
    return left === 0
  }

  async function runAhead(documents: Collection<Doc>, id: string): Promise<void> {
    const seen = await documents.get(id)
    if (seen === null || plan === null) return
    const { field, value } = plan
    // The collection's type says nothing of its fields.
    const fields = seen as unknown as Fields
    const written = value(fields)
    await documents.update(id, { [field]: fields[field] } as object, { [field]: written } as object)
    stands = async () => {
      const found = (await documents.get(id)) as unknown as Fields | null
      return found === null ? null : found[field] === written
    }
    fate = 'made'
  }

  function judged<T>(isOvertaken: boolean, written: T | null): T | null {
    if (isOvertaken && written === null && fate === 'made') fate = 'not made'
    return written
  }

  return {
    wrapBackend: (backend) => ({
      ...backend,
      store: {
        ...backend.store,
        collection<T extends Doc>(spec: Parameters<typeof backend.store.collection<T>>[0]) {
          const documents = backend.store.collection(spec)
          return {
            ...documents,
            async update(id, guard, set) {
              const isOvertaken = isMeant(spec.name, 'update')
              if (isOvertaken) await runAhead(documents as unknown as Collection<Doc>, id)
              return judged(isOvertaken, await documents.update(id, guard, set))
            },
            async take(id, guard) {
              const isOvertaken = isMeant(spec.name, 'take')
              if (isOvertaken) await runAhead(documents as unknown as Collection<Doc>, id)
              return judged(isOvertaken, await documents.take(id, guard))
            },
          } satisfies typeof documents
        },
      },
    }),
    runAhead(faster) {
      plan = faster
      left = faster.nth
    },
    fate: () => fate,
    stands: () => stands(),
  }
}
