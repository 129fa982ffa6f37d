import { expect, it } from 'vitest'
import type { Page } from '../../src/ports/store.js'
import { fullPage, newestFirst } from '../../src/stores/pages.js'
import { sample } from '../../src/testing/shared/sample.js'

/** The index names 450 documents, of which every tenth is not there any more. */
const index = Array.from({ length: 450 }, (_, at) => `${1000 + at}`)
const there = index.filter((id) => !id.endsWith('0'))
const find = async (_equal: object, { after, limit, newestFirst: isNewest }: Page) => {
  const named = isNewest ? [...index].reverse() : index
  const page = named.slice(after === undefined ? 0 : named.indexOf(after) + 1).slice(0, limit)
  return page.filter((id) => there.includes(id)).map((id) => sample(id))
}

it('pages end with an empty one, and not with a short one', async () => {
  const ids: string[] = []
  for await (const { id } of newestFirst({ find }, {})) ids.push(id)
  expect(ids).toEqual([...there].reverse())
  const page = await fullPage({ find }, {}, { limit: 50, after: '1399' })
  expect(page.map(({ id }) => id)).toEqual(there.slice(there.indexOf('1401')))
  expect((await fullPage({ find }, {}, { limit: 20 })).length).toBeGreaterThanOrEqual(20)
})
