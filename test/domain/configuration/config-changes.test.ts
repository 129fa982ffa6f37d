import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { patchConfig } from '../../../src/domain/configuration/config-changes.js'
import {
  createConfiguration,
  locateConfig,
} from '../../../src/domain/configuration/config-store.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { Random } from '../../../src/ports/host.js'
import { modulesOf, secretBoxOf } from '../../../src/setup/configuration.js'
import { systemRandom } from '../../../src/system/machine.js'
import { later } from '../../../src/system/system-clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testConfigKeys } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const actor = { userId: 'u', source: { ip: null, userAgent: null } }

/** The pause before another attempt is of a random length: this one makes it the longest. */
const withPauses: Random = {
  bytes: (length) => (length === 1 ? Uint8Array.of(255) : systemRandom.bytes(length)),
}

/** Two patches of one module, both located before either is written. */
async function twoLocated() {
  const { backend, calls } = faultyBackend(memory())
  const logger = recordingLogger()
  const store = createConfiguration({
    collections: moduleCollectionsOf(backend.store, ''),
    modules: modulesOf({}, {}, {}, secretBoxOf(testConfigKeys, {}, systemRandom)),
    clock: fakeClock(),
    random: withPauses,
    background: createBackgroundTasks(logger, later),
    emit: () => {},
    logger,
  })
  await store.register()
  const one = await locateConfig(store, 'auth', 'production')
  const two = await locateConfig(store, 'auth', 'production')
  return { store, one, two, calls }
}

it('two writers of one process, both located already: the second reads behind the first', async () => {
  const { store, one, two, calls } = await twoLocated()
  const before = calls.length
  const written = await Promise.all([
    patchConfig(store, one, { config: { totpIssuer: 'One' } }, actor),
    patchConfig(store, two, { config: { totpIssuer: 'Two' } }, actor),
  ])
  expect(written.map(({ revision }) => revision)).toEqual([2, 3])
  const calledFor = (name: string) =>
    calls.slice(before).filter((call) => call === `operator_module_${name}`).length
  expect(calledFor('environments.update')).toBe(2)
  expect(calledFor('revisions.insert')).toBe(2)
})

it('a writer that was located before another one ended tries again without a pause', async () => {
  const { store, one, two } = await twoLocated()
  await patchConfig(store, one, { config: { totpIssuer: 'One' } }, actor)
  // The clock stands still: a pause would never end.
  const second = await patchConfig(store, two, { config: { totpIssuer: 'Two' } }, actor)
  expect(second).toMatchObject({ revision: 3, config: { totpIssuer: 'Two' } })
})
