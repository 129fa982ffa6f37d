import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { createConfigStore } from '../../../src/domain/configuration/config-store.js'
import { moduleCollectionsOf } from '../../../src/model/module-collections.js'
import { modulesOf, secretBoxOf } from '../../../src/setup/modules.js'
import { later } from '../../../src/system/later.js'
import { systemRandom } from '../../../src/system/system-random.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testConfigKeys } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const actor = { userId: 'u', source: { ip: null, userAgent: null } }

it('two writers of one process, both located already: the second reads behind the first', async () => {
  const { backend, calls } = faultyBackend(memory())
  const logger = recordingLogger()
  const store = createConfigStore({
    collections: moduleCollectionsOf(backend.store, ''),
    modules: modulesOf({}, {}, {}, secretBoxOf(testConfigKeys, {}, systemRandom)),
    clock: fakeClock(),
    random: systemRandom,
    background: createBackgroundTasks(logger, later),
    emit: () => {},
    logger,
  })
  await store.register()
  const one = await store.locate('auth', 'production')
  const two = await store.locate('auth', 'production')
  const before = calls.length
  const written = await Promise.all([
    store.patch(one, { config: { totpIssuer: 'One' } }, actor),
    store.patch(two, { config: { totpIssuer: 'Two' } }, actor),
  ])
  expect(written.map(({ revision }) => revision)).toEqual([2, 3])
  const calledFor = (name: string) =>
    calls.slice(before).filter((call) => call === `operator_module_${name}`).length
  expect(calledFor('environments.update')).toBe(2)
  expect(calledFor('revisions.insert')).toBe(2)
})
