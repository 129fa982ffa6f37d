import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Collection, Doc } from '../../../src/ports/store.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { type ConfigHost, configHost, mailModule, refusing } from './config-host.js'

const create = (...slugs: string[]) => [{ field: 'hooks', create: slugs, remove: [] }]

/** Everything that an edit could have changed. */
const whole = async (host: ConfigHost) => ({
  environments: await Promise.all(
    ['production', 'sandbox', 'spare'].map((environment) => host.raw(environment)),
  ),
  module: (await host.get('/mail')).json(),
  loaded: await host.auth.config.read(mailModule()),
})

describe('an edit of an environment', () => {
  it('by the module is one of the active environment, judged before it is stored', async () => {
    const host = await configHost()
    const untouched = await whole(host)
    expectProblem(
      await host.change('PATCH', '', { config: { sender: 'a', port: '0' } }),
      422,
      'mail.value_out_of_range',
      'port',
    )
    expect(await whole(host)).toEqual(untouched)
    expect((await host.change('PATCH', '', { config: { sender: 'a' } })).status).toBe(200)
    expect(await host.raw('production')).toEqual({ revision: 2, values: { sender: 'a' } })
    expect(await host.raw('sandbox')).toEqual({ revision: 1, values: {} })
    await host.change('PUT', '/active-environment', { environment: 'sandbox' })
    expect((await host.change('PATCH', '', { config: { sender: 'b' } })).status).toBe(200)
    expect(await host.raw('sandbox')).toEqual({ revision: 2, values: { sender: 'b' } })
    expect(await host.raw('production')).toEqual({ revision: 2, values: { sender: 'a' } })
  })

  it('is one of the environment that the path names, active or not', async () => {
    const host = await configHost()
    await host.change('PUT', '/active-environment', { environment: 'sandbox' })
    for (const environment of ['production', 'sandbox', 'spare']) {
      const config = { sender: `of ${environment}` }
      const reply = await host.patch({ config }, environment)
      expect(reply.json()).toMatchObject({ environment, revision: 2, config })
    }
    for (const environment of ['production', 'sandbox', 'spare']) {
      const values = { sender: `of ${environment}` }
      expect(await host.raw(environment)).toEqual({ revision: 2, values })
    }
  })

  it('that is not active changes neither what is loaded nor needsRestart', async () => {
    const host = await configHost()
    const loaded = () => host.auth.config.read(mailModule())
    const flags = async () => {
      const { activeEnvironment, needsRestart } = (await host.get('/mail')).json()
      return { activeEnvironment, needsRestart }
    }
    await host.patch({ config: { sender: 'in force', port: '26' } })
    const before = await loaded()
    expect(before).toMatchObject({ sender: 'in force', port: 26 })
    const edit = { config: { sender: 'sandy', port: '27' }, recordLists: create('a') }
    expect((await host.patch(edit, 'sandbox')).json()).toMatchObject({ active: false, revision: 2 })
    expect(await flags()).toEqual({ activeEnvironment: 'production', needsRestart: false })
    expect(await loaded()).toEqual(before)
    // Nor where the cache has run out, nor where it was just filled again by an edit of the active one.
    await host.clock.advance(30_001)
    expect(await loaded()).toEqual(before)
    await host.patch({ config: { sender: 'still' } })
    expect(await loaded()).toMatchObject({ sender: 'still', port: 26, hooks: [] })

    await host.change('PUT', '/active-environment', { environment: 'sandbox' })
    expect(await flags()).toEqual({ activeEnvironment: 'sandbox', needsRestart: true })
    await host.patch({ config: { sender: 'too late' } })
    expect(await flags()).toEqual({ activeEnvironment: 'sandbox', needsRestart: true })
    expect(await loaded()).toMatchObject({ sender: 'sandy', port: 27 })
  })

  it('changes the keys that it mentions, and keeps the others', async () => {
    const host = await configHost()
    await host.patch({ config: { sender: 'a', port: '26', password: 'S3CR3T' } })
    const { password = '' } = (await host.raw()).values
    await host.patch({ config: { sender: 'b' } })
    expect((await host.raw()).values).toEqual({ sender: 'b', port: '26', password })
    await host.patch({ config: { port: '', secure: 'false' } })
    const values = { sender: 'b', port: '', secure: 'false', password }
    expect(await host.raw()).toEqual({ revision: 4, values })
    for (const body of [{}, { config: {} }, { recordLists: [] }]) {
      expect((await host.patch(body)).json()).toMatchObject({ revision: 4 })
      expect(await host.raw()).toEqual({ revision: 4, values })
    }
    for (const config of [{ sender: 1 }, { sender: null }, { sender: ['b'] }, ['sender']]) {
      expectProblem(await host.patch({ config }), 400, 'invalid_request')
    }
    expect(await host.raw()).toEqual({ revision: 4, values })
  })

  it('moves the revision on by one, and one that is refused or reads does not', async () => {
    const host = await configHost()
    const revision = async () => {
      const inList = (await host.get('/mail')).json()['environments']
      const { revision: read } = await host.read()
      expect(inList).toContainEqual({ name: 'production', active: true, revision: read })
      return read
    }
    expect(await revision()).toBe(1)
    await host.patch({ config: { sender: 'a' } })
    expect(await revision()).toBe(2)
    await host.patch({ config: { sender: 'a', port: '26' }, recordLists: create('x', 'y') })
    expect(await revision()).toBe(3)
    await host.change('PATCH', '', { config: { sender: 'b' }, revision: 3 })
    expect(await revision()).toBe(4)
    for (const [body, status] of [
      [{ config: { port: '0' } }, 422],
      [{ recordLists: create('x') }, 409],
      [{ config: { sender: 'c' }, revision: 3 }, 409],
      [{ config: { sender: 1 } }, 400],
    ] as const) {
      expect((await host.patch(body)).status).toBe(status)
      expect(await revision()).toBe(4)
    }
  })

  it('is written by no statement that does not name the revision it replaces', async () => {
    const guards: [id: string, guard: object, set: object][] = []
    const { store, ...rest } = memory()
    const collection: typeof store.collection = <T extends Doc>(
      spec: Parameters<typeof store.collection<T>>[0],
    ) => {
      const inner = store.collection<T>(spec)
      const update: Collection<T>['update'] = (id, guard, set) => {
        if (spec.name.endsWith('module_environments')) guards.push([id, guard, set])
        return inner.update(id, guard, set)
      }
      return { ...inner, update }
    }
    const host = await configHost({ backend: { ...rest, store: { ...store, collection } } })
    await host.patch({ config: { sender: 'a', password: 'S3CR3T' } })
    await host.patch({ recordLists: create('x') })
    await host.patch({ recordLists: [{ field: 'hooks', create: [], remove: ['x'] }], revision: 3 })
    await host.patch({ config: { sender: 'b' } }, 'sandbox')
    await host.change('PATCH', '', { config: { sender: 'c' } })
    const rewritten = guards.filter(([, , set]) => 'values' in set || 'revision' in set)
    expect(rewritten.map(([id, guard]) => ({ id, guard }))).toMatchObject([
      { id: 'mail/production', guard: { revision: 1 } },
      { id: 'mail/production', guard: { revision: 2 } },
      { id: 'mail/production', guard: { revision: 3 } },
      { id: 'mail/sandbox', guard: { revision: 1 } },
      { id: 'mail/production', guard: { revision: 4 } },
    ])
    // Of two that name one revision, one is stored.
    const replies = await Promise.all(
      ['d', 'e'].map((sender) => host.patch({ config: { sender }, revision: 5 })),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['200', '409 config.revision_conflict'])
    expect((await host.raw()).revision).toBe(6)
  })

  it.each([
    ['keys alone', { config: { sender: 'x' } }],
    ['new elements alone', { recordLists: create('new') }],
    ['both', { config: { 'hooks.new.url': 'u' }, recordLists: create('new') }],
    ['a removal', { recordLists: [{ field: 'hooks', create: [], remove: ['a'] }] }],
    ['nothing', {}],
  ])('with an old or a future revision is 409, whatever it asks: %s', async (_what, body) => {
    const host = await configHost()
    await host.patch({ recordLists: create('a') })
    const before = await whole(host)
    for (const revision of [0, 1, 3]) {
      expectProblem(await host.patch({ ...body, revision }), 409, 'config.revision_conflict')
    }
    expect(await whole(host)).toEqual(before)
    expect((await host.patch({ ...body, revision: 2 })).status).toBe(200)
  })

  it.each([
    ['a value out of range', { config: { port: '0' } }, '422 mail.value_out_of_range'],
    ['a key that is none', { config: { sendr: 'x' } }, '422 config.unknown_key'],
    ['a slug that is there', { recordLists: create('fresh', 'a') }, '409 config.roster_conflict'],
    ['a validator', { config: { token: 'refused' } }, '422 mail.no'],
  ])('is stored as a whole or not at all: %s', async (_what, bad, outcome) => {
    const validatePatch = ({ values }: { readonly values: { readonly token?: unknown } }) =>
      values.token === 'refused' ? refusing('No.', 'mail.no')() : undefined
    const host = await configHost({ modules: [mailModule({ validatePatch })] })
    await host.patch({ recordLists: create('a'), config: { 'hooks.a.key': 'S3CR3T' } })
    const before = await whole(host)
    const good = {
      config: { sender: 'x', password: 'S3CR3T-p', 'hooks.a.key': 'S3CR3T-2' },
      recordLists: create('fresh'),
    }
    const mixed = {
      ...good,
      ...bad,
      config: { ...good.config, ...('config' in bad && bad.config) },
    }
    expect(outcomeOf(await host.patch(mixed))).toBe(outcome)
    expect(await whole(host)).toEqual(before)
    expect((await host.patch(good)).status).toBe(200)
  })
})

describe('a module of the host’s own', () => {
  it('has the endpoints, the checks and the validators that the library’s has', async () => {
    const refused = { now: '' }
    const judge = (what: string) => () =>
      refused.now === what ? refusing('No.', `mail.${what}`)() : undefined
    const validators = {
      validatePatch: judge('patch_refused'),
      validateActivation: judge('activation_refused'),
    }
    const host = await configHost({ modules: [mailModule(validators)] })
    const names = (await host.get('')).json()['items']
    expect(names).toMatchObject([{ name: 'auth' }, { name: 'mail' }])
    const edit = () => host.patch({ config: { sender: 'x', password: 'S3CR3T', port: '26' } })
    refused.now = 'patch_refused'
    expectProblem(await edit(), 422, 'mail.patch_refused')
    refused.now = 'activation_refused'
    const activate = () => host.change('PUT', '/active-environment', { environment: 'sandbox' })
    expectProblem(await activate(), 422, 'mail.activation_refused')
    refused.now = ''
    const edited = (await edit()).json()
    expect(edited).toMatchObject({
      revision: 2,
      config: { sender: 'x', port: '26' },
      secretsSet: ['password'],
    })
    expect(await host.read()).toEqual(edited)
    expect(await host.auth.config.read(mailModule())).toMatchObject({
      sender: 'x',
      password: 'S3CR3T',
      port: 26,
      secure: true,
    })
    expect((await activate()).json()).toMatchObject({ module: 'mail', needsRestart: true })
    const revisions = await host.get('/mail/environments/production/revisions')
    expect(revisions.json()['items']).toHaveLength(2)
  })
})
