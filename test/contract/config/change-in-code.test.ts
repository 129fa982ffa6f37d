import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ConfigValidationError } from '../../../src/config/index.js'
import type { ConfigChange } from '../../../src/index.js'
import { eventsOf } from '../../support/hosts/open-host.js'
import { configHost, mailModule, refusing } from './config-host.js'

const by = { actorId: 'the-host', ip: '203.0.113.7' }

describe('auth.config.describe', () => {
  it('shows a module as an administrator sees it', async () => {
    const host = await configHost()
    const seen = await host.auth.config.describe('mail')
    expect(seen).toEqual((await host.get('/mail')).json())
    expect(seen.fields.find(({ key }) => key === 'password')).toMatchObject({ type: 'FieldSecret' })
    await expect(host.auth.config.describe('nothing')).rejects.toMatchObject({
      code: 'module_not_found',
    })
  })
})

describe('auth.config.view', () => {
  it('shows the active environment, or the named one, as an administrator sees it', async () => {
    const host = await configHost()
    const password = randomBytes(12).toString('hex')
    await host.patch({ config: { sender: 'a@example.org', password } })
    const seen = await host.auth.config.view('mail')
    expect(seen).toEqual(await host.read())
    expect(seen).toMatchObject({
      ...{ environment: 'production', active: true, config: { sender: 'a@example.org' } },
      secretsSet: ['password'],
    })
    expect(JSON.stringify(seen)).not.toContain(password)
    expect(await host.auth.config.view('mail', 'sandbox')).toEqual(await host.read('sandbox'))
  })

  it('refuses what there is not', async () => {
    const { auth } = await configHost()
    await expect(auth.config.view('nothing')).rejects.toMatchObject({
      code: 'module_not_found',
      message: expect.stringMatching(/There is no such module. There are auth, mail\b/),
    })
    await expect(auth.config.view('mail', 'moon')).rejects.toMatchObject({
      code: 'environment_not_found',
      message: expect.stringMatching(/no such environment. It has production, sandbox\b/),
    })
  })
})

describe('auth.config.change', () => {
  it.each<[string, object]>([
    ['an environment', { environment: undefined, config: { sender: 'x' } }],
    ['a revision', { revision: undefined, config: { sender: 'x' } }],
  ])('refuses %s that is there and undefined, and changes nothing', async (_what, change) => {
    const host = await configHost()
    await expect(Reflect.apply(host.auth.config.change, null, ['mail', change])).rejects.toThrow(
      'No member of the change itself may be there and undefined.',
    )
    expect(await host.auth.config.view('mail')).toMatchObject({ revision: 1 })
  })

  it('edits by the rules of an administrator, and is told to events and the history', async () => {
    const host = await configHost()
    const before = await host.auth.config.view('mail')
    const change = {
      environment: 'production',
      config: { port: '587' },
      recordLists: [{ field: 'hooks', create: ['eu'], remove: [] }],
    }
    const after = await host.auth.config.change('mail', change, by)
    expect(after).toEqual(await host.read())
    expect(after).toMatchObject({
      ...{ revision: before.revision + 1, config: { port: '587' } },
      recordLists: [
        { field: 'hooks', elements: [{ slug: 'eu' }] },
        { field: 'few', elements: [] },
      ],
    })
    expect(eventsOf(host, 'config.changed')).toMatchObject([
      { actorId: 'the-host', ip: by.ip, module: 'mail', environment: 'production' },
    ])
    const [newest] = await host.auth.config.history('mail', 'production')
    expect(newest).toMatchObject({ revision: after.revision, writtenBy: 'the-host' })
  })

  it('edits a named environment, and names no actor where none is given', async () => {
    const host = await configHost()
    const after = await host.auth.config.change('mail', {
      environment: 'sandbox',
      config: { port: '26' },
    })
    expect(after).toMatchObject({ environment: 'sandbox', active: false, config: { port: '26' } })
    expect(eventsOf(host, 'config.changed')).toMatchObject([{ actorId: null }])
    expect((await host.read())['config']).toEqual({})
  })

  it('is in force at once where it was made', async () => {
    const host = await configHost()
    const mail = mailModule()
    expect((await host.auth.config.read(mail)).port).toBe(25)
    await host.auth.config.change('mail', { config: { port: '587' } })
    expect((await host.auth.config.read(mail)).port).toBe(587)
  })

  it('encrypts secrets', async () => {
    const host = await configHost()
    const password = randomBytes(12).toString('hex')
    await host.auth.config.change('mail', { config: { password } })
    expect(JSON.stringify(await host.raw())).not.toContain(password)
    expect((await host.auth.config.read(mailModule())).password).toBe(password)
  })

  it.each([
    ['an unknown key', { config: { nothing: 'x' } }, 'config.unknown_key'],
    ['an older revision', { config: { port: '26' }, revision: 0 }, 'config.revision_conflict'],
    ['an unknown environment', { environment: 'moon', config: {} }, 'environment_not_found'],
    [
      'removal without a revision',
      { environment: 'production', recordLists: [{ field: 'hooks', create: [], remove: ['a'] }] },
      'config.removal_requires_revision',
    ],
  ])('refuses %s, and changes nothing', async (_, change, code) => {
    const host = await configHost()
    const before = await host.raw()
    await expect(host.auth.config.change('mail', change)).rejects.toMatchObject({ code })
    expect(await host.raw()).toEqual(before)
  })

  const hooks = { field: 'hooks', create: ['a'], remove: [] }

  it.each([
    ['null', null],
    ['a number', 5],
    ['an unknown member', { values: {} }],
    ['a number as a text', { config: { port: 587 } }],
    ['a list of texts', { config: ['port'] }],
    ['a text that no store can hold', { config: { sender: '\0' } }],
    ['half a revision', { revision: 1.5 }],
    ['an environment that is no text', { environment: { $ne: '' } }],
    ['slugs that are no list', { recordLists: [{ field: 'hooks', create: 'a' }] }],
    ['a slug that is no text', { recordLists: [{ field: 'hooks', create: [1], remove: [] }] }],
    ['lists by name', { recordLists: { hooks: [] } }],
    ['a list that is null', { recordLists: [null] }],
    ['a list with another member', { recordLists: [{ ...hooks, slugs: ['a'] }] }],
    ['a list of a field that is no text', { recordLists: [{ ...hooks, field: ['hooks'] }] }],
  ])('refuses %s as a change', async (_, change) => {
    const host = await configHost()
    const given = change as unknown as ConfigChange
    await expect(host.auth.config.change('mail', given)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it('refuses what a declaration or a validator refuses', async () => {
    const validatePatch = refusing('The sender is wrong.', 'mail.sender_wrong')
    const host = await configHost({ modules: [mailModule({ validatePatch })] })
    const before = await host.raw()
    const value = host.auth.config.change('mail', { config: { port: '70000' } })
    await expect(value).rejects.toBeInstanceOf(ConfigValidationError)
    const refused = host.auth.config.change('mail', { config: { sender: 'x' } })
    await expect(refused).rejects.toMatchObject({ field: 'sender', code: 'mail.sender_wrong' })
    expect(await host.raw()).toEqual(before)
  })

  it('refuses an actor that could not be stored', async () => {
    const host = await configHost()
    const change = host.auth.config.change('mail', { config: { port: '26' } }, { actorId: '' })
    await expect(change).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
