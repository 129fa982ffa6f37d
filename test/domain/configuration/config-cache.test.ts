import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createBackgroundTasks } from '../../../src/concurrency/background-tasks.js'
import { secretBox } from '../../../src/crypto/secret-box.js'
import { patchConfig } from '../../../src/domain/configuration/config-changes.js'
import {
  createConfigCache,
  createConfiguration,
  locateConfig,
} from '../../../src/domain/configuration/config-store.js'
import { environmentId, moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { AuthOptions } from '../../../src/options.js'
import type { Clock } from '../../../src/ports/host.js'
import { readAuthSettings } from '../../../src/settings/settings.js'
import { modulesOf } from '../../../src/setup/configuration.js'
import { failClosedBackend } from '../../../src/stores/fail-closed-backend.js'
import { systemRandom } from '../../../src/system/machine.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { configHost, mailModule } from '../../contract/config/config-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { testConfigKeys } from '../../support/keys.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const module = mailModule()

/** A process that has read the sender, and whoever else writes it. */
async function rig(options: Partial<AuthOptions> = {}) {
  const spy = spyBackend(memory())
  const t = await testAuth({
    backend: spy.backend,
    modules: [module],
    env: { MAIL_SENDER: 'old' },
    ...options,
  })
  const { environments } = moduleCollectionsOf(t.backend.store, '')
  async function writeBehind(
    sender: string,
    environment = 'production',
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const id = environmentId('mail', environment)
    const seen = await environments.get(id)
    const revision = seen?.revision ?? 0
    const values = { ...seen?.values, sender, ...more }
    await environments.update(id, { revision }, { revision: revision + 1, values })
  }
  /** The environment of a restored backup: of the same revision, and not the same. */
  async function restore(sender: string): Promise<void> {
    const id = environmentId('mail', 'production')
    const seen = await environments.get(id)
    const values = { ...seen?.values, sender }
    const revision = seen?.revision ?? 0
    await environments.update(id, { revision }, { writeId: 'of the backup', values })
  }
  const sender = async () => (await t.auth.config.read(module)).sender
  return {
    ...t,
    spy,
    writeBehind,
    restore,
    sender,
    modules: moduleCollectionsOf(t.backend.store, '').modules,
  }
}

describe('the cache of 30 seconds', () => {
  it('keeps a value for 29,999 ms and not for 30,000, however often it is read, and asks once in that time', async () => {
    const { clock, spy, writeBehind, sender } = await rig()
    expect(await sender()).toBe('old')
    await writeBehind('new')
    for (let ms = 0; ms < 29; ms += 1) {
      await clock.advance(1000)
      expect(await sender()).toBe('old')
    }
    await clock.advance(999)
    spy.calls.splice(0)
    expect(await sender()).toBe('old')
    expect(spy.calls).toEqual([])
    await clock.advance(1)
    expect(await sender()).toBe('new')
    await Promise.all(Array.from({ length: 50 }, sender))
    expect(spy.calls).toEqual(['operator_modules.get', 'operator_module_environments.get'])
  })

  it('takes a revision that was restored from a backup for another one', async () => {
    const { clock, restore, sender } = await rig()
    expect(await sender()).toBe('old')
    await restore('of the backup')
    await clock.advance(30_000)
    expect(await sender()).toBe('of the backup')
  })

  it('asks the store once in 30 seconds, for all readers together', async () => {
    const { clock, spy, sender } = await rig()
    spy.calls.splice(0)
    await Promise.all(Array.from({ length: 50 }, sender))
    const once = ['operator_modules.get', 'operator_module_environments.get']
    expect(spy.calls).toEqual(once)
    for (let at = 0; at < 29; at += 1) {
      await clock.advance(1000)
      await sender()
    }
    expect(spy.calls).toEqual(once)
    await clock.advance(1000)
    await Promise.all(Array.from({ length: 50 }, sender))
    expect(spy.calls).toEqual([...once, ...once])
  })

  it('follows the active environment, and no other', async () => {
    const { clock, writeBehind, sender, modules } = await rig()
    await writeBehind('of sandbox', 'sandbox')
    expect(await sender()).toBe('old')
    await modules.update('mail', { activations: 0 }, { activeEnvironment: 'sandbox' })
    await clock.advance(30_000)
    expect(await sender()).toBe('of sandbox')
  })

  it('a store that is away once it is over is 503, never a default', async () => {
    const { clock, spy, sender, auth } = await rig()
    expect(await sender()).toBe('old')
    spy.fail(() => new Error('away'))
    await clock.advance(29_999)
    expect(await sender()).toBe('old')
    await clock.advance(1)
    const refused = { code: 'service_unavailable', status: 503 }
    await expect(sender()).rejects.toMatchObject(refused)
    await expect(auth.config.read(module)).rejects.toMatchObject(refused)
    spy.fail(null)
    expect(await sender()).toBe('old')
  })

  it('a clock that steps back does not keep old values in force', async () => {
    const inner = fakeClock(Date.UTC(2026, 0, 1))
    let behind = 0
    const clock: Clock = { ...inner, now: () => inner.now() - behind }
    const { writeBehind, sender } = await rig({ clock })
    expect(await sender()).toBe('old')
    await writeBehind('new')
    behind = 60_000
    expect(await sender()).toBe('new')
  })

  it('own writes are seen at once, elsewhere within 30 seconds; administrators see the store', async () => {
    const backend = memory()
    const one = await configHost({ backend, modules: [module] })
    const two = await configHost({ backend, modules: [module] })
    const read = async (host: typeof one) => (await host.auth.config.read(module)).sender
    expect([await read(one), await read(two)]).toEqual(['', ''])
    await one.patch({ config: { sender: 'x' } })
    expect([await read(one), await read(two)]).toEqual(['x', ''])
    expect(await two.read()).toMatchObject({ config: { sender: 'x' } })
    await two.clock.advance(30_000)
    expect(await read(two)).toBe('x')
    await one.change('PUT', '/active-environment', { environment: 'sandbox' })
    expect([await read(one), await read(two)]).toEqual(['', 'x'])
  })
})

describe('what was read is forgotten', () => {
  /** A cache of objects, and how many it has loaded and forgotten. */
  function objects() {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const given: (object | null)[] = []
    let forgotten = 0
    const cache = createConfigCache<object>(
      clock,
      async (before) => {
        given.push(before)
        return before ?? {}
      },
      () => {
        forgotten += 1
      },
    )
    return { clock, cache, given, forgotten: () => forgotten }
  }

  it('30 seconds after the last reading, and not while it is read', async () => {
    const { clock, cache, given, forgotten } = objects()
    const first = await cache.get()
    for (let reading = 0; reading < 5; reading += 1) {
      await clock.advance(29_999)
      expect(await cache.get()).toBe(first)
    }
    expect(given).toEqual([null, first, first])
    await clock.advance(29_999)
    expect(forgotten()).toBe(0)
    await clock.advance(1)
    expect(forgotten()).toBe(1)
    expect(await cache.get()).not.toBe(first)
    expect(given.at(-1)).toBeNull()
  })

  it('once, and again after it was read anew', async () => {
    const { clock, cache, forgotten } = objects()
    await cache.get()
    await clock.advance(300_000)
    expect(forgotten()).toBe(1)
    await cache.get()
    await clock.advance(300_000)
    expect(forgotten()).toBe(2)
  })

  it('also when the load took longer than that', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    let forgotten = 0
    let answer = (_: object): void => {}
    const load = () => new Promise<object>((resolve) => (answer = resolve))
    const cache = createConfigCache<object>(clock, load, () => {
      forgotten += 1
    })
    const loading = cache.get()
    await clock.advance(60_000)
    answer({})
    await loading
    await clock.advance(29_999)
    expect(forgotten).toBe(0)
    await clock.advance(1)
    expect(forgotten).toBe(1)
  })

  it('and a warning about it is not repeated when the same revision is read again', async () => {
    const logger = recordingLogger()
    const { clock, sender, writeBehind } = await rig({ logger })
    await writeBehind('new', 'production', { port: 'many' })
    const told = () => logger.lines.filter(({ message }) => message.includes('mail.port')).length
    await sender()
    expect(told()).toBe(1)
    await clock.advance(90_000)
    await sender()
    expect(told()).toBe(1)
    await writeBehind('newer', 'production', { port: 'more' })
    await clock.advance(90_000)
    await sender()
    expect(told()).toBe(2)
  })
})

describe('what the settings will be read through', () => {
  it('parses each revision once, and gives the same promise and object while it is kept', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const logger = recordingLogger()
    const background = createBackgroundTasks(logger, (run) => setImmediate(run))
    const backend = failClosedBackend(memory(), {
      clock,
      logger,
      timeoutMs: 5000,
      restMs: () => null,
      later: setImmediate,
    })
    const collections = moduleCollectionsOf(backend.store, '')
    const box = secretBox(testConfigKeys, systemRandom)
    const modules = modulesOf({}, { totpIssuer: 'Acme' }, {}, box)
    const deps = { collections, modules, clock, random: systemRandom, background, logger }
    const store = createConfiguration({ ...deps, emit: () => {} })
    let parses = 0
    const settings = store.reader.parsed('auth', ({ values }) => {
      parses += 1
      return Object.freeze(readAuthSettings(values, {}).settings)
    })
    const first = settings()
    expect(settings()).toBe(first)
    expect((await first).totpIssuer).toBe('Acme')
    await clock.advance(29_999)
    expect(settings()).toBe(first)
    await clock.advance(1)
    expect(settings()).not.toBe(first)
    expect(await settings()).toBe(await first)
    const actor = { userId: 'u', source: { ip: null, userAgent: null } }
    const auth = await locateConfig(store, 'auth', null)
    await patchConfig(store, auth, { config: { totpIssuer: 'Other' } }, actor)
    expect((await settings()).totpIssuer).toBe('Other')
    expect(parses).toBe(2)
    await background.drain()
  })
})
