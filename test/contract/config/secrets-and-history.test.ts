import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { defineModule, type FieldDeclaration } from '../../../src/config/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { eventsOf, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { configKey, testConfigKeys } from '../../support/keys.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { type ConfigHost, configHost, mailModule, refusing } from './config-host.js'

const hooks = (create: string[], remove: string[] = []) => [{ field: 'hooks', create, remove }]

describe('planted secrets', () => {
  it('are nowhere: replies, errors, log, events, records, history, rows', async () => {
    const spy = spyBackend()
    const secrets = secretsOf(
      'S3CR3T-top-level',
      'S3CR3T-flagged',
      'S3CR3T-sub-field',
      'S3CR3T-refused',
    )
    const [password = '', token = '', key = '', refused = ''] = secrets.values
    const validatePatch = ({ values }: { values: Readonly<Record<string, string>> }) => {
      if (values['token'] === refused) throw new Error(`bad ${JSON.stringify(values)}`)
      return values['sender'] === 'no'
        ? refusing(`${password} ${token} ${key}`, 'mail.no')()
        : undefined
    }
    const host = await configHost({
      backend: spy.backend,
      modules: [mailModule({ validatePatch, validateActivation: validatePatch })],
    })
    const replies: Reply[] = []
    const keep = async (reply: Promise<Reply>) => replies.push(await reply)
    const first = { password, token, 'hooks.a.key': key }
    await keep(host.patch({ recordLists: hooks(['a']), config: first }))
    for (const body of [
      { config: { password, sender: 'no' } },
      { config: { token: refused } },
      { config: { password }, revision: 1 },
      { config: { password, nobody: key } },
      { config: { 'hooks.b.key': key } },
      { config: { password, port: token } },
      { config: { password: 5 } },
      { recordLists: hooks(['a']), config: { 'hooks.a.key': key } },
    ]) {
      await keep(host.patch(body))
      await keep(host.change('PATCH', '', body))
    }
    await keep(host.change('PUT', '/active-environment', { environment: 'sandbox' }))
    await keep(host.change('PUT', '/active-environment', { environment: 'production' }))
    for (const path of ['', '/mail', '/mail/environments/production']) await keep(host.get(path))
    await keep(host.patch({ recordLists: hooks([], ['a']), revision: 2 }))
    await keep(host.get('/mail/environments/production/revisions'))
    await host.auth.close()
    const records = await storedIn(host, 'operator').auditRecords.find(
      { actorId: host.operator.id },
      { limit: 100 },
    )
    expect(records.filter(({ action }) => action === 'config.changed')).toHaveLength(2)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400, 409, 422]))
    for (const reply of replies) expect(secrets.foundIn(reply.text)).toEqual([])
    const told = [host.logger.lines, host.events, records, spy.written]
    expect(secrets.foundIn(JSON.stringify(told))).toEqual([])
  })
})

eachSampleStore.it('of a secret that is no more, no encrypted text is left', async (kind) => {
  const host = await configHost({}, kind)
  const { environments, revisions } = moduleCollectionsOf(host.backend.store, '')
  const first = { password: 'S3CR3T-a', token: 'S3CR3T-b', 'hooks.a.key': 'S3CR3T-c' }
  await host.patch({ recordLists: hooks(['a']), config: first })
  const { values } = await host.raw()
  const sealed = Object.keys(first).map((key) => values[key] ?? '')
  for (const text of sealed) expect(text).toMatch(/^enc:v1:/)
  const edit = { config: { password: 'S3CR3T-new', token: '' }, recordLists: hooks([], ['a']) }
  expect((await host.patch({ ...edit, revision: 2 })).status).toBe(200)
  const stored = [
    await environments.get('mail/production'),
    await revisions.find({ environmentId: 'mail/production' }, { limit: 100 }),
  ]
  expect(stored[1]).toHaveLength(2)
  expect(sealed.filter((text) => JSON.stringify(stored).includes(text))).toEqual([])
})

describe('a secret that is declared as none later', () => {
  async function redeclared() {
    const { name, environments, fields } = mailModule()
    const backend = memory()
    const first = await configHost({ backend })
    const config = { password: 'S3CR3T-a', sender: 'a@example.org', 'hooks.a.key': 'S3CR3T-b' }
    await first.patch({ recordLists: hooks(['a']), config })
    const declarations: readonly FieldDeclaration[] = fields
    const plain = defineModule({
      ...{ name, environments },
      fields: declarations.map((field) => {
        const items = field.items?.map((item) => ({ ...item, type: 'FieldString' as const }))
        if (field.key === 'hooks' && items !== undefined) return { ...field, items }
        return field.key === 'password' ? { ...field, type: 'FieldString' } : field
      }),
    })
    return { plain, backend, host: await configHost({ backend, modules: [plain] }) }
  }

  it('throws when it is read, is shown nowhere, and is set again by an edit', async () => {
    const { plain, host } = await redeclared()
    const read = await host.auth.config.read(plain)
    expect(read['sender']).toBe('a@example.org')
    expect(() => read['password']).toThrow('cannot be decrypted')
    const shown = [
      await host.get('/mail/environments/production'),
      await host.get('/mail/environments/production/revisions'),
    ]
    expect(shown.map(({ status, text }) => [status, /enc:v1|S3CR3T/.test(text)])).toEqual([
      [200, false],
      [200, false],
    ])
    expect(await host.read()).toMatchObject({ secretsSet: ['hooks.a.key', 'password'] })
    const edit = { config: { password: 'no secret', 'hooks.a.key': 'none' } }
    expect((await host.patch(edit)).status).toBe(200)
    expect((await host.auth.config.read(plain))['password']).toBe('no secret')
    expect(await host.read()).toMatchObject({ secretsSet: [], config: { password: 'no secret' } })
  })

  it('is told of by a diagnosis, and goes along when the key changes', async () => {
    const { plain, backend } = await redeclared()
    const next = configKey('next')
    const both = await testAuth({
      backend,
      modules: [plain],
      configKeys: [next, ...testConfigKeys],
    })
    expect(await both.auth.config.reencrypt()).toEqual({ reencrypted: 2, damaged: [] })
    const { auth } = await testAuth({ backend, modules: [plain], configKeys: [next] })
    const findings = await auth.diagnose()
    expect(findings.filter(({ check }) => check === 'encryption')).toMatchObject([
      { problem: expect.stringContaining('"mail.password" in "production" holds an encrypted') },
      { problem: expect.stringContaining('"mail.hooks.a.key" in "production" holds an') },
    ])
  })
})

it('a secret whose field is no longer declared is removed by an empty text', async () => {
  const { name, environments, fields } = mailModule()
  const declarations: readonly FieldDeclaration[] = fields
  const backend = memory()
  const before = await configHost({ backend })
  await before.patch({ config: { password: 'S3CR3T-a', token: 'S3CR3T-b' } })
  const fewer = defineModule({
    ...{ name, environments },
    fields: declarations.filter(({ key }) => key !== 'password'),
  })
  const host = await configHost({ backend, modules: [fewer] })
  expect(await host.read()).toMatchObject({ secretsSet: ['password', 'token'] })
  const put = await host.patch({ config: { password: 'S3CR3T-c' } })
  expect(outcomeOf(put)).toBe('422 config.unknown_key')
  expect((await host.patch({ config: { password: '' } })).status).toBe(200)
  expect(await host.read()).toMatchObject({ secretsSet: ['token'] })
  expect((await host.raw()).values).not.toHaveProperty('password')
})

describe('history', () => {
  it('keeps the last fifty revisions, newest first, with who and what', async () => {
    const host = await configHost()
    await host.patch({ config: { sender: 'first', password: 'S3CR3T-x' } })
    for (let count = 0; count < 60; count += 1)
      await host.patch({ config: { port: `${count + 1}` } })
    await host.auth.close()
    const reply = await host.get('/mail/environments/production/revisions')
    const items = reply.json()['items'] as readonly Record<string, unknown>[]
    expect(items.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 50 }, (_, index) => 62 - index),
    )
    expect(items[0]).toEqual({
      revision: 62,
      writtenAt: new Date(host.clock.now()).toISOString(),
      writtenBy: host.operator.id,
      changed: ['port'],
      removed: [],
      config: { sender: 'first', port: '60' },
      secretsSet: ['password'],
    })
    expect(await host.auth.config.history('mail', 'production')).toHaveLength(50)
    const { revisions } = moduleCollectionsOf(host.backend.store, '')
    const kept = await revisions.find({ environmentId: 'mail/production' }, { limit: 100 })
    expect(kept.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 49 }, (_, index) => index + 13),
    )
  })

  it.each([
    ['goes on', false],
    ['ends before that', true],
  ])(
    'forgets the values of an element that is removed, also when the process %s',
    async (_, ends) => {
      const faulty = faultyBackend(memory())
      const host = await configHost({ backend: faulty.backend })
      const url = (text: string) => ({ config: { 'hooks.a.url': text, sender: text } })
      await host.patch({ recordLists: hooks(['a']), ...url('https://one.example') })
      await host.patch(url('https://two.example'))
      const stored = async () => {
        const { revisions } = moduleCollectionsOf(host.backend.store, '')
        const environmentId = 'mail/production'
        return JSON.stringify(await revisions.find({ environmentId }, { limit: 60 }))
      }
      const shown = async () => host.auth.config.history('mail', 'production')
      if (ends)
        faulty.failNext('operator_module_revisions.update', 'before', Number.POSITIVE_INFINITY)
      await host.patch({ recordLists: hooks([], ['a']), revision: 3 })
      await host.auth.close()
      const history = await shown()
      expect(JSON.stringify(history)).not.toContain('hooks.a.url":')
      expect(history).toMatchObject([
        { revision: 4, removed: expect.arrayContaining(['hooks.a.url']) },
        { revision: 3, changed: expect.arrayContaining(['hooks.a.url']) },
        { revision: 2, config: { sender: 'https://one.example' } },
        { revision: 1 },
      ])
      expect((await stored()).includes('hooks.a.url":')).toBe(ends)
      // The next edit completes what was cut short, and an element of the same name has its own values.
      faulty.heal()
      await host.patch({ recordLists: hooks(['a']), ...url('https://three.example') })
      await host.patch({ config: { sender: 'https://four.example' } })
      await host.auth.close()
      expect(await stored()).not.toMatch(/hooks\.a\.url":"https:..(one|two)/)
      expect((await shown())[0]?.config['hooks.a.url']).toBe('https://three.example')
      expect((await shown())[1]?.config['hooks.a.url']).toBe('https://three.example')
    },
  )

  it('is told of by events that name keys', async () => {
    const host = await configHost()
    await host.patch({ recordLists: hooks(['a']), config: { password: 'S3CR3T-x' } })
    await host.patch({ recordLists: hooks([], ['a']), revision: 2 })
    await host.change('PUT', '/active-environment', { environment: 'sandbox' })
    const who = { surface: 'operator', actorId: host.operator.id, module: 'mail' }
    expect(eventsOf(host, 'config.changed')).toMatchObject([
      { ...who, environment: 'production', revision: 2, keys: ['hooks.__items', 'password'] },
      { ...who, environment: 'production', revision: 3, keys: ['hooks.__items'] },
    ])
    expect(eventsOf(host, 'config.activated')).toMatchObject([
      { ...who, environment: 'sandbox', previous: 'production' },
    ])
  })
})

describe('keys', () => {
  const next = configKey('next')
  const planted = { password: 'S3CR3T-old', 'hooks.a.key': 'S3CR3T-list' }

  async function rekeyed(): Promise<{ host: ConfigHost; backend: ReturnType<typeof memory> }> {
    const backend = memory()
    const host = await configHost({ backend })
    await host.patch({ recordLists: hooks(['a']), config: planted })
    await host.patch({ config: { token: 'S3CR3T-sandbox' } }, 'sandbox')
    return { host, backend }
  }

  it('reencrypt puts every secret under the first key, and may be repeated', async () => {
    const { host, backend } = await rekeyed()
    const module = mailModule()
    const { auth, events } = await testAuth({
      backend,
      modules: [module],
      configKeys: [next, ...testConfigKeys],
    })
    expect(await auth.config.reencrypt()).toEqual({ reencrypted: 3, damaged: [] })
    expect(await auth.config.reencrypt()).toEqual({ reencrypted: 0, damaged: [] })
    const { values, revision } = await host.raw()
    expect(revision).toBe(3)
    expect(values['password']).toMatch(/^enc:v1:next:/)
    expect(events.filter(({ type }) => type === 'config.reencrypted')).toMatchObject([
      { actorId: null, environment: 'production', keys: ['hooks.a.key', 'password'] },
      { actorId: null, environment: 'sandbox', keys: ['token'] },
    ])
    const only = await testAuth({ backend, modules: [module], configKeys: [next] })
    const read = await only.auth.config.read(module)
    expect([read.password, read.hooks[0]?.key]).toEqual(['S3CR3T-old', 'S3CR3T-list'])
  })

  it('reencrypt that an edit overtakes keeps the edit, and puts its secrets under the first key', async () => {
    const { host, backend } = await rekeyed()
    const faulty = faultyBackend(backend)
    const { auth } = await testAuth({
      backend: faulty.backend,
      modules: [mailModule()],
      configKeys: [next, ...testConfigKeys],
    })
    const edit = { sender: 'mine', password: 'S3CR3T-newer' }
    faulty.onCall('operator_module_environments.update', async () => {
      expect((await host.patch({ config: edit })).status).toBe(200)
    })
    expect(await auth.config.reencrypt()).toEqual({ reencrypted: 3, damaged: [] })
    const { values, revision } = await host.raw()
    expect([revision, values['sender']]).toEqual([4, 'mine'])
    expect(values['password']).toMatch(/^enc:v1:next:/)
    expect(await auth.config.read(mailModule())).toMatchObject(edit)
  })

  it('a secret that does not decrypt is an error of its field alone', async () => {
    const { backend } = await rekeyed()
    const module = mailModule()
    const other = await configHost({ backend, modules: [module], configKeys: [next] })
    expect(await other.auth.config.reencrypt()).toMatchObject({
      reencrypted: 0,
      damaged: [
        { key: 'hooks.a.key' },
        { key: 'password' },
        { environment: 'sandbox', key: 'token' },
      ],
    })
    const read = await other.auth.config.read(module)
    expect(read.port).toBe(25)
    expect(() => read.password).toThrow(/"password" cannot be decrypted/)
    expect(() => read.hooks[0]?.key).toThrow(/"hooks.a.key" cannot be decrypted/)
    expect(read.hooks[0]?.slug).toBe('a')
    // Other edits go on, and the secret can be set anew.
    expect((await other.patch({ config: { sender: 'x' } })).status).toBe(200)
    expect((await other.patch({ config: { password: 'S3CR3T-new' } })).status).toBe(200)
    expect((await other.auth.config.read(module)).password).toBe('S3CR3T-new')
  })
})
