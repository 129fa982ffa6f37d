import type { Row } from '../../src/checks/shape.js'
import type { Page } from '../../src/ports/store.js'
import type { Keys } from './keys.js'
import { holderOf, idsBetween } from './lua.js'
import type { Run } from './script.js'
import { entryOf, listOf, type NamedIndex } from './texts.js'

/** Ids of the documents that equal `wanted`, which has the fields of exactly one index. */
export function idsOf(
  run: Run,
  keys: Keys,
  indexes: readonly NamedIndex[],
  wanted: Row,
): (page: Page) => Promise<readonly string[]> {
  const fields = Object.keys(wanted).sort().join()
  const index = indexes.find(({ on }) => on.join() === fields)
  if (!index) throw new TypeError(`redis: no index is on exactly (${fields})`)
  const entry = entryOf(index, wanted)
  return async (page) => {
    if (index.unique) {
      const ids = listOf(await run(holderOf, [keys.schema, keys.unique], [index.name, entry]))
      return ids.filter((id) => isOn(page, id))
    }
    const args = [index.name, ...rangeOf(entry, page), String(page.limit)]
    const members = listOf(await run(idsBetween, [keys.schema, keys.indexed], args))
    return members.map((member) => member.slice(entry.length + 1))
  }
}

/** All members are `entry`, NUL, id; the next character after NUL is beyond all of them. */
function rangeOf(entry: string, { after, newestFirst }: Page): readonly string[] {
  const first = `[${entry}\0`
  const last = `(${entry}\u0001`
  const next = after === undefined ? undefined : `(${entry}\0${after}`
  return newestFirst
    ? ['ZREVRANGEBYLEX', next ?? last, first]
    : ['ZRANGEBYLEX', next ?? first, last]
}

/** In the order the server has ids in: by their bytes. */
function isOn({ after, newestFirst }: Page, id: string): boolean {
  if (after === undefined) return true
  const order = Buffer.compare(Buffer.from(id), Buffer.from(after))
  return newestFirst ? order < 0 : order > 0
}
