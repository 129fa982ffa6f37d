import { expect, it } from 'vitest'
import { planPatch } from '../../../src/engine/configuration/config-patch.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { configHost, mailModule } from './config-host.js'

const nothing = [{ field: 'hooks', create: [], remove: [] }]

eachSampleStore.describe('an edit of nothing', (kind) => {
  it('writes no revision, at either door, and is judged by no validator', async () => {
    const judged: unknown[] = []
    const validatePatch = (seen: unknown) => {
      judged.push(seen)
    }
    const host = await configHost({ modules: [mailModule({ validatePatch })] }, kind)
    await host.patch({ config: { sender: 'a' } })
    const before = { raw: await host.raw(), judged: judged.length, events: host.events.length }
    const view = await host.read()
    for (const body of [{}, { config: {} }, { config: {}, revision: 2 }]) {
      const byModule = await host.change('PATCH', '', body)
      expect([byModule.status, byModule.json()]).toEqual([200, view])
      const byEnvironment = await host.patch({ ...body, recordLists: nothing })
      expect([byEnvironment.status, byEnvironment.json()]).toEqual([200, view])
    }
    expect((await host.patch({ recordLists: [] })).json()).toEqual(view)
    expect({ raw: await host.raw(), judged: judged.length, events: host.events.length }).toEqual(
      before,
    )
    expect(
      (await host.get('/mail/environments/production/revisions')).json()['items'],
    ).toHaveLength(2)
  })

  it('is refused like any other edit', async () => {
    const host = await configHost({}, kind)
    expectProblem(await host.patch({ revision: 2 }), 409, 'config.revision_conflict')
    const elsewhere = { environment: 'sandbox' }
    expectProblem(await host.change('PATCH', '', elsewhere), 409, 'config.revision_conflict')
  })
})

it('a plan that changes nothing says so: there is nothing to write', () => {
  const { fields } = mailModule()
  const plan = planPatch({ revision: 1, values: { sender: 'a' } }, { recordLists: nothing }, fields)
  expect(plan).toEqual({ kind: 'next', values: { sender: 'a' }, changed: [], removed: [] })
})
