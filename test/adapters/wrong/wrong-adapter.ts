import type { Backend } from '../../../src/ports/backend.js'
import type { Collection, CollectionSpec, Doc, Guard } from '../../../src/ports/store.js'

/** An adapter with one fault, and the cases that must name it. */
export interface WrongAdapter {
  readonly fault: string
  readonly found: readonly string[]
  /** What the wrong adapter has instead of the right one's ports. */
  twist(right: Backend): Partial<Backend>
}

/** What a wrong collection does differently from the right one it is made of. */
export type Twist = <T extends Doc>(
  right: Collection<T>,
  spec: CollectionSpec<T>,
) => Partial<Collection<T>>

/** A store all of whose collections have the fault. */
export function wrong(fault: string, found: readonly string[], twist: Twist): WrongAdapter {
  return {
    fault,
    found,
    twist: ({ store }) => ({
      store: {
        ...store,
        collection(spec) {
          const right = store.collection(spec)
          return { ...right, ...twist(right, spec) }
        },
      },
    }),
  }
}

/** A guard that holds of whatever is stored under the id: what a blind write amounts to. */
export function always<T extends Doc>(id: string): Guard<T> {
  const guard: Guard<Doc> = { id }
  return guard as Guard<T>
}

/** Whether the guard holds of a document, judged outside of the write it belongs to. */
export function judged(doc: object, guard: object): boolean {
  return Object.entries(guard).every(([name, test]) => {
    const value = field(doc, name)
    if (typeof test !== 'object' || test === null) return value === test
    if ('in' in test) return test.in.includes(value)
    if ('gt' in test) return typeof value === 'number' && value > test.gt
    return typeof value === 'number' && value <= test.lte
  })
}

/** A field of a document or of a part of one, without its type. */
export function field(doc: object, name: string): unknown {
  return Reflect.get(doc, name)
}

/** The same with every value passed through `change`, which is given its field's name. */
export function mapFields<T extends object>(
  doc: T,
  change: (value: unknown, name: string) => unknown,
): T {
  const entries = Object.entries(doc).map(([name, value]) => [name, change(value, name)])
  return Object.fromEntries(entries)
}
