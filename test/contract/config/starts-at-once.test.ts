import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { mailModule } from './config-host.js'
import { editElsewhere } from './overtaken-host.js'

/** A process that starts with a first value which the store lacks. */
async function lacking() {
  const faulty = faultyBackend(memory())
  const module = mailModule()
  const events: AuthEvent[] = []
  const onEvent = (event: AuthEvent) => events.push(event)
  const start = (env: Readonly<Record<string, string>>) =>
    testAuth({ backend: faulty.backend, modules: [module], env, onEvent })
  await start({})
  events.splice(0)
  const collections = moduleCollectionsOf(faulty.backend.store, '')
  const values = async () => (await collections.environments.get('mail/production'))?.values
  return { faulty, module, start, collections, values, events }
}

const update = 'operator_module_environments.update'

it('a start whose first value another start stored meanwhile keeps that one', async () => {
  const { faulty, module, start, values, events } = await lacking()
  faulty.onCall(update, async () => {
    await start({ MAIL_SENDER: 'theirs' })
  })
  const mine = await start({ MAIL_SENDER: 'mine' })
  expect((await mine.auth.config.read(module)).sender).toBe('theirs')
  expect(await values()).toEqual({ sender: 'theirs' })
  expect(events).toMatchObject([{ type: 'config.seeded', revision: 2, keys: ['sender'] }])
})

it('a start that an edit of another key overtakes stores its first value beside it', async () => {
  const { faulty, module, start, collections, values, events } = await lacking()
  faulty.onCall(update, () => editElsewhere(collections, 'production', { port: '26' }))
  const mine = await start({ MAIL_SENDER: 'mine' })
  expect(await mine.auth.config.read(module)).toMatchObject({ sender: 'mine', port: 26 })
  expect(await values()).toEqual({ sender: 'mine', port: '26' })
  expect(events).toMatchObject([{ type: 'config.seeded', revision: 3, keys: ['sender'] }])
})
