// What a request pays for settings that may change: all 63 from the cache, against a plain object's.
import { Bench } from 'tinybench'
import { it } from 'vitest'
import { memory } from '../adapters/memory/index.js'
import { createBackgroundTasks } from '../src/concurrency/background-tasks.js'
import { createConfigStore } from '../src/domain/configuration/config-store.js'
import { moduleCollectionsOf } from '../src/model/module-collections.js'
import { authSettingDeclarations } from '../src/settings/index.js'
import type { AuthSettings } from '../src/settings/settings.js'
import { liveSettings } from '../src/setup/live-settings.js'
import { modulesOf, secretBoxOf } from '../src/setup/modules.js'
import { later } from '../src/system/later.js'
import { systemClock } from '../src/system/system-clock.js'
import { systemRandom } from '../src/system/system-random.js'
import { testConfigKeys } from '../test/support/keys.js'
import { recordingLogger } from '../test/support/outside/recording-logger.js'
import { report } from './report.js'

const keys = authSettingDeclarations.map(({ key }) => key)
/** So that no reading is left out as useless. */
let seen = 0

function readAll(settings: AuthSettings): void {
  for (const key of keys) if (settings[key] !== undefined) seen += 1
}

it('reading all 63 settings', async () => {
  const logger = recordingLogger()
  const store = createConfigStore({
    collections: moduleCollectionsOf(memory().store, ''),
    modules: modulesOf({}, {}, {}, secretBoxOf(testConfigKeys, {}, systemRandom)),
    clock: systemClock,
    random: systemRandom,
    background: createBackgroundTasks(logger, later),
    emit: () => {},
    logger,
  })
  await store.register()
  const live = liveSettings(store.reader, {}, logger)
  const plain: AuthSettings = { ...(await live()) }
  const fixed = async () => plain

  const bench = new Bench({ time: 1500 })
  bench.add('63 of a plain object', async () => readAll(await fixed()))
  bench.add('63 of the cache, read once', async () => readAll(await live()))
  bench.add('63 of the cache, each read for itself', async () => {
    for (const key of keys) if ((await live())[key] !== undefined) seen += 1
  })
  await bench.run()
  report(bench)
  for (const { name, result } of bench.tasks) {
    if (result.state !== 'completed') throw new Error(`${name} did not complete`)
    const nanoseconds = (result.latency.p50 * 1e6) / keys.length
    console.log(`${nanoseconds.toFixed(0).padStart(6)} ns a value  ${name}`)
  }
  if (seen === 0) throw new Error('nothing was read')
}, 60_000)
