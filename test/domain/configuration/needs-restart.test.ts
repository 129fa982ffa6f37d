import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import {
  activateEnvironment,
  patchConfig,
} from '../../../src/domain/configuration/config-changes.js'
import {
  type Configuration,
  createConfiguration,
  locateConfig,
  moduleSummaries,
} from '../../../src/domain/configuration/config-store.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { modulesOf, secretBoxOf } from '../../../src/setup/configuration.js'
import { systemRandom } from '../../../src/system/machine.js'
import { later } from '../../../src/system/system-clock.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testConfigKeys } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const actor = { userId: 'u', source: { ip: null, userAgent: null } }
const minute = 60_000

/** Processes on one database and one clock. */
function world() {
  const faulty = faultyBackend(memory())
  const collections = moduleCollectionsOf(faulty.backend.store, '')
  const clock = fakeClock()
  const logger = recordingLogger()

  /** One that did not begin to use the configuration yet. */
  function created(): Configuration {
    const store = createConfiguration({
      collections,
      modules: modulesOf({}, {}, {}, secretBoxOf(testConfigKeys, {}, systemRandom)),
      clock,
      random: systemRandom,
      background: createBackgroundTasks(logger, later),
      emit: () => {},
      logger,
    })
    onTestFinished(() => store.roll.close())
    return store
  }

  async function started(): Promise<Configuration> {
    const store = created()
    await store.register()
    return store
  }

  const needsRestart = async (store: Configuration) =>
    (await moduleSummaries(store))[0]?.needsRestart
  const processes = async () =>
    Object.values((await collections.modules.get('auth'))?.processes ?? {})
  return { ...faulty, collections, clock, logger, created, started, needsRestart, processes }
}

const activate = async (store: Configuration, environment: string) =>
  activateEnvironment(store, await locateConfig(store, 'auth', null), environment, actor)

describe('needsRestart', () => {
  it('stays true until each process that ran at the switch has ended', async () => {
    const { started, needsRestart, processes } = world()
    const [one, two] = [await started(), await started()]
    expect(await needsRestart(one)).toBe(false)
    expect(await activate(one, 'sandbox')).toMatchObject({ needsRestart: true })
    const three = await started()
    for (const store of [one, two, three]) expect(await needsRestart(store)).toBe(true)
    await one.roll.close()
    expect(await needsRestart(three)).toBe(true)
    await started()
    expect(await needsRestart(three)).toBe(true)
    await two.roll.close()
    expect(await needsRestart(three)).toBe(false)
    expect(await processes()).toHaveLength(2)
  })

  it('waits for no process that was closed before it began to use the configuration', async () => {
    const { created, started, needsRestart, processes } = world()
    const one = await started()
    const closed = created()
    await closed.roll.close()
    await closed.register()
    expect(await processes()).toHaveLength(1)
    await activate(one, 'sandbox')
    await one.roll.close()
    expect(await needsRestart(await started())).toBe(false)
  })

  it('becomes true also where the environment was active already', async () => {
    const { started, needsRestart } = world()
    const one = await started()
    expect(await activate(one, 'production')).toMatchObject({
      activeEnvironment: 'production',
      needsRestart: true,
    })
    expect(await needsRestart(one)).toBe(true)
    await one.roll.close()
    const two = await started()
    expect(await needsRestart(two)).toBe(false)
    expect(await activate(two, 'production')).toMatchObject({ needsRestart: true })
    expect(await needsRestart(two)).toBe(true)
  })

  it('is not cleared by migrating, be it again and again', async () => {
    const { started, needsRestart } = world()
    const one = await started()
    await activate(one, 'sandbox')
    await one.register()
    for (let at = 0; at < 3; at += 1) await (await started()).roll.close()
    expect(await needsRestart(one)).toBe(true)
  })

  it('is not set by an edit, and a switch after another needs another restart', async () => {
    const { started, needsRestart } = world()
    const one = await started()
    const target = await locateConfig(one, 'auth', 'production')
    await patchConfig(one, target, { config: { totpIssuer: 'A' } }, actor)
    expect(await needsRestart(one)).toBe(false)
    await activate(one, 'sandbox')
    const two = await started()
    await one.roll.close()
    expect(await needsRestart(two)).toBe(false)
    await activate(two, 'production')
    expect(await needsRestart(two)).toBe(true)
  })

  it('a process that begins to use the configuration after the switch needs no restart', async () => {
    const { created, started, needsRestart } = world()
    const [one, late] = [await started(), created()]
    await activate(one, 'sandbox')
    await one.roll.close()
    expect(await late.reader.load('auth')).toMatchObject({ environment: 'sandbox' })
    expect(await needsRestart(late)).toBe(false)
  })
})

describe('a process that crashed', () => {
  it('counts for fifteen minutes after it was last seen, and is then swept', async () => {
    const { clock, collections, started, needsRestart, processes } = world()
    const survivor = await started()
    const id = 'crashed'
    const seen = await collections.modules.get('auth')
    const revision = (seen?.revision ?? 0) + 1
    const crashed = { activations: 0, seenAt: clock.now() }
    await collections.modules.update(
      'auth',
      { revision: revision - 1 },
      { revision, processes: { ...seen?.processes, [id]: crashed } },
    )
    await activate(survivor, 'sandbox')
    await survivor.roll.close()
    const next = await started()
    await clock.advance(15 * minute - 1)
    expect(await needsRestart(next)).toBe(true)
    await clock.advance(1)
    expect(await needsRestart(next)).toBe(false)
    expect(await processes()).toHaveLength(1)
    expect(Object.keys((await collections.modules.get('auth'))?.processes ?? {})).not.toContain(id)
  })

  it('one that runs is seen every five minutes, and counts for as long as it runs', async () => {
    const { clock, started, needsRestart, processes } = world()
    const [one, two] = [await started(), await started()]
    await activate(one, 'sandbox')
    await one.roll.close()
    for (let at = 0; at < 12; at += 1) {
      await clock.advance(5 * minute)
      expect((await processes()).map(({ seenAt }) => seenAt)).toEqual([clock.now()])
    }
    expect(await needsRestart(two)).toBe(true)
  })

  it('one that could not say that it runs is counted again, and as before', async () => {
    const { clock, failNext, logger, started, needsRestart, processes } = world()
    const one = await started()
    await activate(one, 'sandbox')
    failNext('operator_modules.get', 'before', 3)
    await clock.advance(15 * minute)
    expect(await needsRestart(one)).toBe(false)
    expect(logger.lines.map(({ message }) => message)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('could not say that it still runs')),
    )
    await clock.advance(5 * minute)
    expect(await needsRestart(one)).toBe(true)
    expect(await processes()).toHaveLength(1)
  })
})

describe('the document of a module', () => {
  it('twenty processes that start, switch and end at once are all in it', async () => {
    const { started, needsRestart, processes } = world()
    const first = await started()
    const rest = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const store = await started()
        if (index % 5 === 0) await activate(store, index % 2 === 0 ? 'sandbox' : 'production')
        return store
      }),
    )
    expect(await processes()).toHaveLength(21)
    expect(await needsRestart(first)).toBe(true)
    await Promise.all([first, ...rest].map((store) => store.roll.close()))
    expect(await processes()).toEqual([])
  })

  const faults = (['get', 'update'] as const).flatMap((call) =>
    (['before', 'after'] as const).map((mode) => [`operator_modules.${call}`, mode] as const),
  )

  it.each(['before', 'after'] as const)(
    'a switch whose write fails %s taking effect is told as it is',
    async (mode) => {
      const { failNext, started, needsRestart } = world()
      const one = await started()
      const target = await locateConfig(one, 'auth', null)
      failNext('operator_modules.update', mode, 1)
      const told = await activateEnvironment(one, target, 'sandbox', actor).catch(() => null)
      expect(await needsRestart(one)).toBe(told !== null)
      expect((await moduleSummaries(one))[0]?.activeEnvironment).toBe(
        told === null ? 'production' : 'sandbox',
      )
    },
  )

  it.each(faults)('an end of which %s fails %s never rejects', async (call, mode) => {
    const { failNext, logger, started } = world()
    const one = await started()
    failNext(call, mode, 1)
    await one.roll.close()
    expect(logger.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('could not say that it ends'),
    ])
  })

  it.each(faults)('a start of which %s fails %s is completed by the next', async (call, mode) => {
    const { failNext, created, needsRestart, processes } = world()
    const one = created()
    failNext(call, mode, 1)
    await one.register().catch(() => {})
    await one.register()
    expect(await processes()).toHaveLength(1)
    expect(await needsRestart(one)).toBe(false)
  })
})
