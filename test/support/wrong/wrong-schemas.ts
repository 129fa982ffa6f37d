import { memory } from '../../../adapters/memory/index.js'
import type { FieldSpec } from '../../../src/ports/store.js'
import { mapFields, type WrongAdapter } from './wrong-adapter.js'

export const wrongSchemas: readonly WrongAdapter[] = [
  {
    fault: 'unique indexes that are not kept',
    found: [
      'insert on a taken unique value answers false and stores nothing',
      'a unique index on two fields refuses only both together',
      'a refused unique value answers null and changes nothing',
      'of eight inserts of one unique value, one answers true',
      'of eight documents updated to one unique value, one wins, the others answer null',
      'of an insert and an update to one unique value, one wins',
      'two bindings of one collection share its documents',
    ],
    twist: ({ store }) => ({
      store: {
        collection: (spec) => {
          return store.collection({ ...spec, indexes: spec.indexes.map(({ on }) => ({ on })) })
        },
        prepare: async () => {},
      },
    }),
  },
  {
    fault: 'bindings that keep documents of their own',
    found: [
      'two bindings of one collection share its documents',
      'a replica of the earlier version goes on working',
    ],
    twist: () => ({
      store: { collection: (spec) => memory().store.collection(spec), prepare: async () => {} },
    }),
  },
  {
    fault: 'collections that share one key space',
    found: ['two collections share neither ids nor unique values'],
    twist: ({ store }) => {
      const ids = new Set<string>()
      return {
        store: {
          ...store,
          collection(spec) {
            const right = store.collection(spec)
            return {
              ...right,
              async insert(doc) {
                if (ids.has(doc.id)) return false
                ids.add(doc.id)
                return right.insert(doc)
              },
            }
          },
        },
      }
    },
  },
  {
    fault: 'a prepare that works once only',
    found: ['prepare may be repeated and changes no document', 'prepare by eight at once works'],
    twist: ({ store }) => {
      const prepared = new Set<string>()
      return {
        store: {
          ...store,
          async prepare(specs) {
            for (const { name } of specs) {
              if (prepared.has(name)) throw new Error(`${name} already exists`)
              prepared.add(name)
            }
            await store.prepare(specs)
          },
        },
      }
    },
  },
  {
    fault: 'fields added later that read as null in older documents',
    found: [
      'a field added later reads as its default, a nullable one as null',
      'guards and indexes see the default of a field added later',
      'a replica of the earlier version goes on working',
    ],
    twist: ({ store }) => {
      const without = (declared: unknown) => {
        const { kind, default: filled } = declared as FieldSpec
        return filled === undefined ? declared : { kind, nullable: true }
      }
      return {
        store: {
          collection: (spec) => {
            return store.collection({ ...spec, fields: mapFields(spec.fields, without) })
          },
          prepare: async () => {},
        },
      }
    },
  },
]
