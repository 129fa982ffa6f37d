import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/index.js'
import { openHost } from '../support/hosts/open-host.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { person } from '../support/people/people.js'
import { flows } from './catalogue.js'

const walks = operations.flatMap(({ id, status, surfaces }) =>
  flows
    .filter(({ of }) => of === id)
    .flatMap((flow) =>
      surfaces.map((surface) => ({ flow, surface, status, of: id, name: flow.name })),
    ),
)

const kept: Readonly<Record<string, string>> = {
  getJwks: 'public, max-age=300',
  getOptions: 'public, max-age=60',
}

describe('the catalogue of flows', () => {
  it('has every operation of the table, and no other', () => {
    const known = new Set(operations.map(({ id }) => id))
    const walked = new Set(flows.map(({ of }) => of))
    expect([...walked].sort()).toEqual([...known].sort())
  })

  it('has no flow twice', () => {
    const names = flows.map(({ of, name }) => `${of}: ${name}`)
    expect(names).toEqual([...new Set(names)])
  })

  it.each(walks)(
    '$of: $name succeeds on the $surface surface, and only what is public may be stored',
    async ({ of, flow, surface, status }) => {
      const { settings, ...options } = flow.options ?? {}
      const all = { ...withoutLimits.settings, ...settings }
      const host = await openHost({ ...withoutLimits, ...options, settings: all })
      const who = await person(host, surface)
      const { step } = await flow.prepare({ host, surface, who, enrolled: null })
      const reply = await step()
      expect([reply.status, reply.text]).toEqual([status, reply.text])
      expect(reply.headers.get('cache-control')).toBe(kept[of] ?? 'no-store')
    },
  )
})
