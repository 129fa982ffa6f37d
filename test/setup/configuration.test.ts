import { expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../src/concurrency/background-tasks.js'
import { patchConfig } from '../../src/domain/configuration/config-changes.js'
import { createConfiguration, locateConfig } from '../../src/domain/configuration/config-store.js'
import { moduleCollectionsOf } from '../../src/model/configuration.js'
import { liveSettings, modulesOf, secretBoxOf } from '../../src/setup/configuration.js'
import { systemRandom } from '../../src/system/machine.js'
import { later } from '../../src/system/system-clock.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { testConfigKeys } from '../support/keys.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import { faultyBackend } from '../support/stores/faulty-backend.js'

const nobody = { userId: 'u', source: { ip: null, userAgent: null } }

async function settingsOf(seeds: Readonly<Record<string, string>> = {}) {
  const { backend, calls } = faultyBackend(memory())
  const clock = fakeClock()
  const logger = recordingLogger()
  const store = createConfiguration({
    collections: moduleCollectionsOf(backend.store, ''),
    modules: modulesOf({}, seeds, {}, secretBoxOf(testConfigKeys, {}, systemRandom)),
    clock,
    random: systemRandom,
    background: createBackgroundTasks(logger, later),
    emit: () => {},
    logger,
  })
  await store.register()
  const settings = liveSettings(store.reader, {}, logger)
  const set = async (config: Readonly<Record<string, string>>) =>
    patchConfig(store, await locateConfig(store, 'auth', 'production'), { config }, nobody)
  return { settings, set, clock, calls }
}

it('are read once in 30 s, by two calls, and cost a reader nothing meanwhile', async () => {
  const { settings, clock, calls } = await settingsOf()
  await settings()
  const before = calls.length
  await clock.advance(29_999)
  const kept = settings()
  for (let reading = 0; reading < 100; reading += 1) {
    // The very promise: not even a wrapper is made for a request.
    expect(settings()).toBe(kept)
  }
  expect(calls.length).toBe(before)
  await clock.advance(1)
  await Promise.all(Array.from({ length: 100 }, settings))
  expect(calls.slice(before)).toEqual(['operator_modules.get', 'operator_module_environments.get'])
})

it('are one frozen object until another revision is read', async () => {
  const domain = 'registrationAllowedDomains'
  const { settings, set, clock } = await settingsOf({
    [`${domain}.__items`]: 'ours',
    [`${domain}.ours.domain`]: 'example.org',
    [`${domain}.ours.surface`]: 'both',
  })
  const first = await settings()
  for (let reading = 0; reading < 9; reading += 1) {
    await clock.advance(10_000)
    expect(await settings()).toBe(first)
  }
  await set({ passwordMinLength: '20' })
  const second = await settings()
  expect([first.passwordMinLength, second.passwordMinLength]).toEqual([15, 20])
  expect(second).not.toBe(first)
  expect(Object.isFrozen(second)).toBe(true)
  for (const list of [second.registrationAllowedDomains, second.securityWebhooks]) {
    expect([list, ...list].every((part) => Object.isFrozen(part))).toBe(true)
  }
})
