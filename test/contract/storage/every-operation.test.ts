import { expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { flows } from '../../flows/catalogue.js'
import { eachStore } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person } from '../../support/people/people.js'

/** Each operation by its first flow, on one of its surfaces. The catalogue itself walks all of them on memory. */
const walks = operations.flatMap(({ id, status, surfaces }, index) => {
  const flow = flows.find(({ of }) => of === id)
  const surface = surfaces[index % surfaces.length]
  return flow === undefined || surface === undefined ? [] : [{ id, status, flow, surface }]
})

it('every operation is walked', () => {
  expect(walks.map(({ id }) => id)).toEqual(operations.map(({ id }) => id))
})

/** The suites of `eachHost` take the others through the whole library. */
const others = eachStore.only(({ name }) => /mariadb|sqlite/.test(name))

others.describe('every operation', (kind) => {
  it.each(walks)('$id succeeds on the $surface surface', async ({ flow, surface, status }) => {
    const { settings, ...options } = flow.options ?? {}
    const all = { ...withoutLimits.settings, ...settings }
    const host = await openHost({ ...withoutLimits, ...options, settings: all }, kind)
    const who = await person(host, surface)
    const { step } = await flow.prepare({ host, surface, who, enrolled: null })
    const reply = await step()
    expect([reply.status, reply.text]).toEqual([status, reply.text])
  })
})
