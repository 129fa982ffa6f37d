import { expect, it } from 'vitest'
import type { ModuleCollections } from '../../../src/model/configuration.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ConfigHost, configHost } from './config-host.js'
import { editElsewhere, overtakenHost } from './overtaken-host.js'

const edited = 'operator_module_environments.update'

/** Another process edits the active environment, and makes another one active. */
async function switchElsewhere(collections: ModuleCollections): Promise<void> {
  await editElsewhere(collections, 'production', { sender: 'other' })
  const seen = await collections.modules.get('mail')
  if (seen === null) throw new Error('no module mail')
  const { activations, revision } = seen
  const next = {
    activeEnvironment: 'sandbox',
    activations: activations + 1,
    revision: revision + 1,
  }
  await collections.modules.update('mail', { revision }, next)
}

const activate = (host: ConfigHost, environment: string) =>
  host.change('PUT', '/active-environment', { environment })

it('a revision stated at the module’s door is of the environment that was active', async () => {
  const { host, arm } = await overtakenHost(edited, switchElsewhere)
  arm()
  const body = { config: { sender: 'mine' }, revision: 1 }
  const reply = await host.change('PATCH', '', body)
  expectProblem(reply, 409, 'config.revision_conflict')
  expect(await host.raw('sandbox')).toEqual({ revision: 1, values: {} })
  expect((await host.raw()).values).toEqual({ sender: 'other' })
})

it('without one, an edit by the module is of whichever environment is active', async () => {
  const { host, arm } = await overtakenHost(edited, switchElsewhere)
  arm()
  const body = { config: { sender: 'mine' } }
  const reply = await host.change('PATCH', '', body)
  expect(reply.json()).toMatchObject({ environment: 'sandbox', revision: 2 })
  expect((await host.raw()).values).toEqual({ sender: 'other' })
})

it('an edit by the module that names its environment is refused once another is active', async () => {
  const host = await configHost()
  const named = { config: { sender: 'mine' }, environment: 'production', revision: 1 }
  await activate(host, 'sandbox')
  expectProblem(await host.change('PATCH', '', named), 409, 'config.revision_conflict')
  expect(await host.raw('sandbox')).toEqual({ revision: 1, values: {} })
  expect(await host.raw()).toEqual({ revision: 1, values: {} })
  const meant = await host.change('PATCH', '', { ...named, environment: 'sandbox' })
  expect(meant.json()).toMatchObject({ environment: 'sandbox', revision: 2 })
})

it('an environment that is named stays so when the edit is planned again', async () => {
  const { host, arm } = await overtakenHost(edited, switchElsewhere)
  arm()
  const named = { config: { sender: 'mine' }, environment: 'production' }
  const reply = await host.change('PATCH', '', named)
  expectProblem(reply, 409, 'config.revision_conflict')
  expect(await host.raw('sandbox')).toEqual({ revision: 1, values: {} })
})

it('a revision that is still the newest is no conflict, however often switches mark its values', async () => {
  const { host, arm } = await overtakenHost(edited, async ({ environments }) => {
    const { activation = null } = (await environments.get('mail/production')) ?? {}
    await environments.update(
      'mail/production',
      { activation },
      { activation: `not ${activation}` },
    )
    // Twice: the edit is planned once more, and meets the second mark.
    if (activation === null) arm()
  })
  arm()
  const reply = await host.patch({ config: { sender: 'mine' }, revision: 1 })
  expect(reply.json()).toMatchObject({ environment: 'production', revision: 2 })
  expect((await host.raw()).values).toEqual({ sender: 'mine' })
})
