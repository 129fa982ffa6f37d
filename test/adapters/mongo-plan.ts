import type { Db, Document } from 'mongodb'

/** How a server finds the documents of a command: `whole` reads a collection, `sorted` sorts what it read. */
export type CommandPlan = 'by id' | 'by index' | 'whole' | 'sorted'

/** What a driver adds to a command; an explanation takes none of it. */
const aboutSending = /^(?:\$|lsid$|txnNumber$|readConcern$|writeConcern$)/

/** As the server explains it; of a stand-in that explains nothing, as its indexes allow. */
export async function commandPlan(db: Db, command: Document): Promise<CommandPlan> {
  const asked = Object.fromEntries(
    Object.entries(command).filter(([name]) => !aboutSending.test(name)),
  )
  if (asked['insert'] !== undefined) return 'by id'
  try {
    const explained = await db.command({ explain: asked, verbosity: 'queryPlanner' })
    return planIn(JSON.stringify(explained))
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("no such command: 'explain'")))
      throw error
    return planByIndexes(db, asked)
  }
}

/** Names of the stages in which a server reads by `_id`. */
const byId = /"stage":"(?:IDHACK|EXPRESS_IXSCAN|CLUSTERED_IXSCAN|EXPRESS_CLUSTERED_IXSCAN)"/

function planIn(explained: string): CommandPlan {
  const won = explained.replaceAll(/"rejectedPlans":\[.*?\](?=[,}])/g, '')
  if (/"stage":"COLLSCAN"/.test(won)) return 'whole'
  if (/"stage":"SORT"/.test(won)) return 'sorted'
  if (byId.test(won) || /"keyPattern":\{"_id":1\}/.test(won)) return 'by id'
  return 'by index'
}

/** Fields that are compared for equality, and those that are compared otherwise. */
interface Compared {
  readonly equal: readonly string[]
  readonly ranged: readonly string[]
}

async function planByIndexes(db: Db, command: Document): Promise<CommandPlan> {
  const { name, filter, sort } = lookOf(command)
  const { equal, ranged } = comparedIn(filter)
  if (equal.includes('_id')) return 'by id'
  const indexes = await db.collection(name).listIndexes().toArray()
  const keys = indexes.map(({ key, unique }) => ({
    fields: Object.keys(key),
    unique: unique === true,
  }))
  const served = keys.filter(({ fields }) => {
    const isEqual =
      equal.length > 0 &&
      equal.every((field) => fields.indexOf(field) < equal.length && fields.includes(field))
    return isEqual || (equal.length === 0 && ranged.includes(fields[0] ?? ''))
  })
  if (served.length === 0) return 'whole'
  // One document at most is no work to sort.
  const isInOrder = served.some(({ fields, unique }) => {
    const rest = fields.slice(equal.length)
    return unique || sort.every((field, at) => rest[at] === field)
  })
  return isInOrder ? 'by index' : 'sorted'
}

function lookOf(command: Document): { name: string; filter: Document; sort: readonly string[] } {
  const [verb = '', name] = Object.entries(command)[0] ?? []
  const [first = {}] = (command['updates'] ?? command['deletes'] ?? []) as readonly Document[]
  const [match = {}] = (command['pipeline'] ?? []) as readonly Document[]
  const filter = command['filter'] ?? command['query'] ?? first['q'] ?? match['$match'] ?? {}
  if (typeof name !== 'string') throw new Error(`${verb} names no collection`)
  const { sort = {} } = command
  // A driver keeps the order of what it sorts by in a map.
  return { name, filter, sort: sort instanceof Map ? [...sort.keys()] : Object.keys(sort) }
}

function comparedIn(filter: Document): Compared {
  const equal: string[] = []
  const ranged: string[] = []
  for (const [field, test] of Object.entries(filter)) {
    if (field === '$and') {
      for (const one of test as readonly Document[]) {
        const inner = comparedIn(one)
        equal.push(...inner.equal)
        ranged.push(...inner.ranged)
      }
    } else if (!field.startsWith('$')) {
      const isEqual = typeof test !== 'object' || test === null || '$eq' in test || '$in' in test
      ;(isEqual ? equal : ranged).push(field)
    }
  }
  return { equal, ranged }
}
