import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { defineModule } from '../../../src/config/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { configHost, mailModule } from './config-host.js'

const env = (MAIL_SENDER?: string) => ({
  env: { MAIL_PASSWORD: 'S3CR3T-env', ...(MAIL_SENDER === undefined ? {} : { MAIL_SENDER }) },
})

/** One process after the other on one database. */
function boots() {
  const backend = memory()
  const boot = (options: HostOptions = {}) =>
    testAuth({ backend, modules: [mailModule()], ...options })
  return { backend, boot, ...moduleCollectionsOf(backend.store, '') }
}

eachSampleStore.describe('first values', (kind) => {
  it('are taken from the environment, secrets encrypted', async () => {
    const module = mailModule()
    const host = await configHost({ modules: [module], ...env('env@b.example') }, kind)
    const { values, revision } = await host.raw()
    expect([revision, Object.keys(values).sort()]).toEqual([1, ['password', 'sender']])
    expect(values['sender']).toBe('env@b.example')
    expect(values['password']).toMatch(/^enc:v1:test:/)
    expect((await host.raw('sandbox')).values).toEqual({})
    const unset = await configHost({ modules: [module], env: { MAIL_SENDER: '' } }, kind)
    expect((await unset.raw()).values).toEqual({})
    expect(await host.auth.config.read(module)).toMatchObject({
      sender: 'env@b.example',
      password: 'S3CR3T-env',
      port: 25,
      secure: true,
    })
    expect(JSON.stringify([host.events, host.logger.lines, await host.read()])).not.toContain(
      'S3CR3T',
    )
    await host.auth.close()
    expect((await host.auth.config.history('mail', 'production'))[0]).toMatchObject({
      changed: ['password', 'sender'],
      config: { sender: 'env@b.example' },
      secretsSet: ['password'],
    })
  })
})

describe('later boots', () => {
  it('never override what the store owns, be it empty', async () => {
    const { backend, boot, environments } = boots()
    const sender = async () => (await environments.get('mail/production'))?.values['sender']
    await boot(env('A'))
    await boot(env('B'))
    expect(await sender()).toBe('A')
    await boot(env())
    expect(await sender()).toBe('A')
    const host = await configHost({ backend, ...env('B') })
    expect((await host.patch({ config: { sender: 'C' } })).status).toBe(200)
    await boot(env('B'))
    expect(await sender()).toBe('C')
    expect((await host.patch({ config: { sender: '', password: '' } })).status).toBe(200)
    const { auth } = await boot(env('B'))
    const { values = {} } = (await environments.get('mail/production')) ?? {}
    expect(values).toMatchObject({ sender: '', password: '' })
    expect(await auth.config.read(mailModule())).toMatchObject({ sender: '', password: '' })
  })

  it('a key owned by another environment is nobody’s to seed; an empty variable is none', async () => {
    const { boot, environments } = boots()
    await boot({ env: { MAIL_SENDER: '' } })
    expect((await environments.get('mail/production'))?.values).toEqual({})
    await environments.update(
      'mail/sandbox',
      { revision: 1 },
      { revision: 2, values: { sender: '' } },
    )
    await boot(env('B'))
    expect(Object.keys((await environments.get('mail/production'))?.values ?? {})).toEqual([
      'password',
    ])
  })

  it('the settings option gives first values too, lists as a whole', async () => {
    const { boot, environments } = boots()
    const target = {
      slug: 'web',
      uri: 'https://a.example/cb',
      surface: 'client',
      flow: 'web',
    } as const
    const hook = {
      slug: 'siem',
      url: 'https://siem.example',
      signingSecret: 'S3CR3T-hook-of-at-least-32-characters',
      events: 'all',
    } as const
    const settings = {
      passwordMinLength: 20,
      oauthRedirectTargets: [target],
      securityWebhooks: [hook],
    }
    await boot({ settings })
    await boot({
      settings: { passwordMinLength: 30, oauthRedirectTargets: [{ ...target, slug: 'other' }] },
    })
    const { values = {} } = (await environments.get('auth/production')) ?? {}
    expect(values).toMatchObject({
      passwordMinLength: '20',
      'oauthRedirectTargets.__items': 'web',
      'securityWebhooks.siem.url': 'https://siem.example',
    })
    expect(values['securityWebhooks.siem.signingSecret']).toMatch(/^enc:v1:/)
    expect(Object.keys(values).filter((key) => key.includes('other'))).toEqual([])
  })

  it('a new environment of a module is empty; the stored active one stays active', async () => {
    const { boot, environments, modules } = boots()
    await boot(env('A'))
    const renamed = { ...mailModule(), environments: ['live', 'sandbox'] }
    const { auth } = await boot({ modules: [renamed], ...env('B') })
    expect((await environments.get('mail/live'))?.values).toEqual({})
    expect((await modules.get('mail'))?.activeEnvironment).toBe('production')
    expect(await auth.config.read(renamed)).toMatchObject({ sender: 'A' })
  })

  it('twenty processes that start at once leave one set of values', async () => {
    const { boot, environments, revisions } = boots()
    const seeded: AuthEvent[] = []
    const onEvent = (event: AuthEvent) => seeded.push(event)
    const started = await Promise.all(
      Array.from({ length: 20 }, (_, index) => boot({ ...env(`process-${index}`), onEvent })),
    )
    const stored = await environments.get('mail/production')
    expect(stored?.revision).toBe(1)
    expect(stored?.values['sender']).toMatch(/^process-\d+$/)
    // One for `mail`, one for `auth`.
    expect(seeded.map(({ type }) => type)).toEqual(['config.seeded', 'config.seeded'])
    expect(await revisions.find({ environmentId: 'mail/production' }, { limit: 10 })).toEqual([])
    const reads = await Promise.all(started.map(({ auth }) => auth.config.read(mailModule())))
    expect(new Set(reads.map(({ sender }) => sender)).size).toBe(1)
  })

  it('twenty processes that bring a new first value write it once', async () => {
    const { boot, environments } = boots()
    await boot({ env: {} })
    await Promise.all(Array.from({ length: 20 }, (_, index) => boot(env(`process-${index}`))))
    expect((await environments.get('mail/production'))?.revision).toBe(2)
  })
})

describe('a first value that its field cannot hold', () => {
  const module = defineModule({
    name: 'shop',
    environments: ['live'],
    fields: [
      { key: 'port', label: 'Port', type: 'FieldInt', group: 'G', max: 65535, envVar: 'PORT' },
      { key: 'on', label: 'On', type: 'FieldBool', group: 'G', envVar: 'ON' },
      {
        key: 'mode',
        label: 'Mode',
        type: 'FieldSelect',
        group: 'G',
        options: ['a', 'b'],
        envVar: 'MODE',
      },
      { key: 'pin', label: 'PIN', type: 'FieldSecret', group: 'G', min: 8, envVar: 'PIN' },
      { key: 'name', label: 'Name', type: 'FieldString', group: 'G', envVar: 'NAME' },
    ],
  })
  const good = { PORT: '1', ON: 'true', MODE: 'b', PIN: 'S3CR3T-pin', NAME: 'Ann' }
  const cases: [string, string, string][] = [
    [
      'PORT',
      '65536',
      '"shop.port" in PORT was not stored: it must be a whole number from 0 to 65535',
    ],
    [
      'PORT',
      'many',
      '"shop.port" in PORT was not stored: it must be a whole number from 0 to 65535',
    ],
    ['ON', 'yes', '"shop.on" in ON was not stored: it must be true or false'],
    ['MODE', 'c', `"shop.mode" in MODE was not stored: it must be one of 'a', 'b'`],
    ['PIN', 'S3CR3T', '"shop.pin" in PIN was not stored: it must be text of at least 8 characters'],
    ['NAME', 'a\0b', '"shop.name" in NAME was not stored: it must not contain control characters'],
  ]

  it.each(cases)('%s=%j is reported by migrate, and not stored', async (name, bad, told) => {
    const { backend, environments } = boots()
    const first = await testAuth({ backend, modules: [module], env: { ...good, [name]: bad } })
    const warnings = JSON.stringify(first.logger.lines)
    expect(first.logger.lines.filter(({ message }) => message.includes(told))).toHaveLength(1)
    expect(warnings).not.toContain('S3CR3T')
    const key = name.toLowerCase()
    const stored = async () => Object.keys((await environments.get('shop/live'))?.values ?? {})
    expect((await stored()).sort()).toEqual(
      ['mode', 'name', 'on', 'pin', 'port'].filter((other) => other !== key),
    )
    // Corrected, it is taken at the next start; a bad one that comes later changes nothing and is not mentioned.
    const second = await testAuth({ backend, modules: [module], env: good })
    expect(await stored()).toContain(key)
    const third = await testAuth({ backend, modules: [module], env: { ...good, [name]: bad } })
    expect(JSON.stringify([second.logger.lines, third.logger.lines])).not.toContain('not stored')
  })

  it('is not stored for the library’s own settings either', async () => {
    const { boot, environments } = boots()
    const { logger } = await boot({ env: { APPLE_TEAM_ID: 'short', GOOGLE_CLIENT_ID: 'g' } })
    expect((await environments.get('auth/production'))?.values).toMatchObject({
      googleClientId: 'g',
    })
    expect((await environments.get('auth/production'))?.values).not.toHaveProperty('appleTeamId')
    expect(JSON.stringify(logger.lines)).toContain(
      'The first value of \\"auth.appleTeamId\\" in APPLE_TEAM_ID was not stored: it must be text of 10 characters.',
    )
  })

  it('JWT_ACCESS_TOKEN_EXPIRY is special for accessTokenTTL alone: a module of the host may be seeded from it', async () => {
    const { backend, environments } = boots()
    const own = defineModule({
      name: 'shop',
      environments: ['live'],
      fields: [
        {
          key: 'expiry',
          label: 'Expiry',
          type: 'FieldDuration',
          group: 'G',
          envVar: 'JWT_ACCESS_TOKEN_EXPIRY',
        },
      ],
    })
    await testAuth({ backend, modules: [own], env: { JWT_ACCESS_TOKEN_EXPIRY: '5m' } })
    expect((await environments.get('shop/live'))?.values).toEqual({ expiry: '5m' })
    expect((await environments.get('auth/production'))?.values).not.toHaveProperty('accessTokenTTL')
  })
})

describe('a start that is cut short', () => {
  it('a module that is declared wrongly fails it before anything is registered or seeded', async () => {
    // As a host without types can pass it.
    const broken = JSON.parse(`{
      "name": "news",
      "environments": ["production"],
      "fields": [{ "key": "other", "label": "O", "type": "FieldString", "group": "G", "items": [] }]
    }`)
    const spy = spyBackend()
    const modules = [mailModule(), broken]
    const starting = testAuth({ backend: spy.backend, modules, ...env('A') })
    await expect(starting).rejects.toThrow(/Module "news" is not declared correctly: field "other"/)
    expect(spy.calls).toEqual([])
    // Without it, the same start goes through.
    const { auth } = await testAuth({ backend: spy.backend, modules: [mailModule()], ...env('A') })
    expect(await auth.config.read(mailModule())).toMatchObject({ sender: 'A' })
  })

  const calls = [
    'operator_modules.insert',
    'operator_modules.update',
    'operator_module_environments.insert',
  ]
  const cases = calls.flatMap((call) =>
    (['before', 'after'] as const).map((mode) => [call, mode] as const),
  )

  it.each(cases)('%s fails %s: the next attempt completes it', async (call, mode) => {
    const { backend, failNext } = faultyBackend(memory())
    failNext(call, mode, 1)
    const options = { backend, modules: [mailModule()], ...env('A') }
    await expect(testAuth(options)).rejects.toMatchObject({ code: 'service_unavailable' })
    const { auth } = await testAuth(options)
    expect(await auth.config.read(mailModule())).toMatchObject({
      sender: 'A',
      password: 'S3CR3T-env',
    })
    const { environments } = moduleCollectionsOf(backend.store, '')
    expect((await environments.get('mail/production'))?.revision).toBe(1)
  })

  it('createAuth touches no store; the first reading registers what migrate did not', async () => {
    const spy = spyBackend()
    const { auth } = await testAuth({ backend: spy.backend, modules: [mailModule()], ...env('A') })
    spy.fail(() => new Error('away'))
    await expect(auth.config.read(mailModule())).rejects.toMatchObject({
      code: 'service_unavailable',
    })
    spy.fail(null)
    expect(await auth.config.read(mailModule())).toMatchObject({ sender: 'A' })
  })
})
