import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { type ConfigHost, configHost } from './config-host.js'

const create = (...slugs: string[]) => [{ field: 'hooks', create: slugs, remove: [] }]
const remove = (...slugs: string[]) => [{ field: 'hooks', create: [], remove: slugs }]
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `e-${from + index}`)

async function withElements(host: ConfigHost, ...slugs: string[]): Promise<void> {
  expect((await host.patch({ recordLists: create(...slugs) })).status).toBe(200)
}

eachSampleStore.describe('editing the configuration', (kind) => {
  it('edits the active environment by the module', async () => {
    const host = await configHost({}, kind)
    const first = await host.change('PATCH', '', { config: { sender: 'a', port: '26' } })
    expect([first.status, first.json()]).toEqual([200, await host.read()])
    expect(first.json()).toMatchObject({ revision: 2, config: { sender: 'a', port: '26' } })
    const second = await host.change('PATCH', '', { config: { sender: 'b' }, revision: 2 })
    expect(second.json()).toMatchObject({ revision: 3, config: { sender: 'b', port: '26' } })
    expect(await host.raw('sandbox')).toMatchObject({ revision: 1, values: {} })
  })

  it('edits the environment it names, and no other', async () => {
    const host = await configHost({}, kind)
    const reply = await host.patch({ config: { sender: 'sandy' } }, 'sandbox')
    expect(reply.json()).toMatchObject({ environment: 'sandbox', active: false, revision: 2 })
    expect((await host.raw()).values).toEqual({})
    const mail = (await host.get('/mail')).json()
    expect(mail).toMatchObject({ needsRestart: false, activeEnvironment: 'production' })
  })

  it('creates and destroys elements as a whole', async () => {
    const host = await configHost({}, kind)
    await host.patch({
      recordLists: create('a', 'a-b', 'ab'),
      config: {
        'hooks.a.url': 'u',
        'hooks.a.key': 'S3CR3T',
        'hooks.a-b.url': 'v',
        'hooks.ab.url': 'w',
      },
    })
    const stray = await host.patch({ config: { 'hooks.new.__label': 'New' } })
    expectProblem(stray, 409, 'config.roster_conflict')
    const removed = await host.patch({ recordLists: remove('a'), revision: 2 })
    expect(removed.status).toBe(200)
    expect(Object.keys((await host.raw()).values).sort()).toEqual([
      'hooks.__items',
      'hooks.a-b.url',
      'hooks.ab.url',
    ])
    expect((await host.raw()).values['hooks.__items']).toBe('a-b,ab')
    await withElements(host, 'a')
    expect(Object.keys((await host.raw()).values)).not.toContain('hooks.a.url')
  })

  it('renames by the label alone, through either door', async () => {
    const host = await configHost({}, kind)
    await withElements(host, 'a')
    const body = { config: { 'hooks.a.__label': 'Renamed' } }
    const reply = await host.change('PATCH', '', body)
    expect(reply.json()['recordLists']).toMatchObject([
      { elements: [{ slug: 'a', label: 'Renamed' }] },
      {},
    ])
    expect((await host.raw()).values['hooks.__items']).toBe('a')
  })

  it.each<[string, unknown, string, string?]>([
    [
      'a removal without revision',
      { recordLists: remove('a') },
      '422 config.removal_requires_revision',
      'hooks',
    ],
    [
      'a field twice',
      { recordLists: [...create('x'), ...create('y')], revision: 0 },
      '422 config.duplicate_field',
      'hooks',
    ],
    [
      'a slug in both',
      { recordLists: [{ field: 'hooks', create: ['x'], remove: ['x'] }], revision: 0 },
      '422 config.create_and_remove',
      'hooks',
    ],
    ['a malformed slug', { recordLists: create('A b') }, '422 config.invalid_slug', 'hooks'],
    ['a slug twice', { recordLists: create('x', 'x') }, '422 config.invalid_slug', 'hooks'],
    [
      'a roster',
      { config: { 'hooks.__items': 'x' } },
      '422 config.membership_not_allowed',
      'hooks.__items',
    ],
    ['an unknown key', { config: { sendr: 'x' } }, '422 config.unknown_key', 'sendr'],
    [
      'a list that is none',
      { recordLists: [{ field: 'sender', create: [], remove: [] }] },
      '422 config.unknown_key',
      'sender',
    ],
    [
      '51 elements',
      { recordLists: create(...numbered(51)), revision: 0 },
      '422 config.too_many_elements',
      'hooks',
    ],
    [
      'a key of what it removes',
      { recordLists: remove('a'), config: { 'hooks.a.url': '' }, revision: 2 },
      '422 config.unknown_key',
      'hooks.a.url',
    ],
    ['an old revision', { config: { sender: 'x' }, revision: 1 }, '409 config.revision_conflict'],
    ['a future revision', { config: { sender: 'x' }, revision: 3 }, '409 config.revision_conflict'],
    [
      'an old revision, adding only',
      { recordLists: create('x'), revision: 1 },
      '409 config.revision_conflict',
    ],
    ['revision 0', { recordLists: remove('a'), revision: 0 }, '409 config.revision_conflict'],
    ['a slug that is there', { recordLists: create('a') }, '409 config.roster_conflict', 'hooks'],
    [
      'a slug that is not',
      { recordLists: remove('gone'), revision: 2 },
      '409 config.roster_conflict',
      'hooks',
    ],
    [
      'more than Max',
      { recordLists: [{ field: 'few', create: ['x', 'y', 'z'], remove: [] }] },
      '422 config.too_many_elements',
      'few',
    ],
  ])('%s: %#', async (_what, body, outcome, field) => {
    const host = await configHost({}, kind)
    await withElements(host, 'a')
    const before = await host.raw()
    const reply = await host.patch(body)
    expect(outcomeOf(reply)).toBe(outcome)
    expectProblem(reply, reply.status, outcome.slice(4), field)
    expect(await host.raw()).toEqual(before)
  })

  it.each<[string, unknown]>([
    ['a number', { config: { port: 25 } }],
    ['a boolean', { config: { secure: true } }],
    ['null', { config: { sender: null } }],
    ['an object', { config: { sender: {} } }],
    ['config as a list', { config: ['sender'] }],
    ['a revision in text', { config: {}, revision: '1' }],
    ['no revision', { config: {}, revision: null }],
    ['a fraction', { config: {}, revision: 1.5 }],
    ['NUL', { config: { sender: 'a\0b' } }],
    ['a slug that is no text', { recordLists: [{ field: 'hooks', create: [1], remove: [] }] }],
    ['another member', { config: {}, force: true }],
    ['a list', []],
  ])('%s is 400', async (_what, body) => {
    const host = await configHost({}, kind)
    expectProblem(await host.patch(body), 400, 'invalid_request')
    expect(await host.raw()).toEqual({ revision: 1, values: {} })
  })

  it('a module edit touches no membership', async () => {
    const host = await configHost({}, kind)
    for (const body of [
      { recordLists: create('x') },
      { recordLists: [] },
      { config: { 'hooks.__items': 'x' } },
    ]) {
      const reply = await host.change('PATCH', '', body)
      expectProblem(reply, 422, 'config.membership_not_allowed')
    }
    expect(await host.raw()).toEqual({ revision: 1, values: {} })
  })

  it('counts elements on the roster the write applies to', async () => {
    const host = await configHost({}, kind)
    await withElements(host, ...numbered(49))
    await withElements(host, 'last')
    expectProblem(await host.patch({ recordLists: create('x') }), 422, 'config.too_many_elements')
    const swap = [{ field: 'hooks', create: ['x'], remove: ['last'] }]
    expect((await host.patch({ recordLists: swap, revision: 3 })).status).toBe(200)
  })

  it('of two with one revision, one wins; the other is told the revision', async () => {
    const host = await configHost({}, kind)
    const replies = await Promise.all(
      ['a', 'b'].map((sender) => host.patch({ config: { sender }, revision: 1 })),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['200', '409 config.revision_conflict'])
    const loser = replies.find(({ status }) => status === 409)
    expect(loser?.json()['detail']).toContain('at revision 2')
  })

  it('twenty that only add all succeed', async () => {
    const host = await configHost({}, kind)
    const replies = await Promise.all(
      numbered(20).map((slug) => host.patch({ recordLists: create(slug) })),
    )
    expect(replies.map(outcomeOf)).toEqual(numbered(20).map(() => '200'))
    const { values, revision } = await host.raw()
    expect(values['hooks.__items']?.split(',').sort()).toEqual(numbered(20).sort())
    expect(revision).toBe(21)
  })

  it('two that add one slug: one succeeds, one is told that it exists', async () => {
    const host = await configHost({}, kind)
    const replies = await Promise.all([1, 2].map(() => host.patch({ recordLists: create('x') })))
    expect(replies.map(outcomeOf).sort()).toEqual(['200', '409 config.roster_conflict'])
  })

  it('keeps, clears and replaces secrets, which never come back', async () => {
    const host = await configHost({}, kind)
    const replies: Reply[] = []
    const set = async (config: Record<string, string>) => replies.push(await host.patch({ config }))
    await set({ password: 'S3CR3T-a', token: 'S3CR3T-a' })
    const first = await host.raw()
    expect(first.values['password']).not.toBe(first.values['token'])
    await set({ sender: 'x' })
    expect((await host.raw()).values['password']).toBe(first.values['password'])
    await set({ password: '' })
    expect((await host.raw()).values['password']).toBe('')
    expect((await host.read())['secretsSet']).toEqual(['token'])
    expect(replies.map(({ text }) => text).join()).not.toContain('S3CR3T')
  })

  it('wants required sub-fields unless their condition is false', async () => {
    const host = await configHost({}, kind)
    const few = (config: Record<string, string>, slug: string) =>
      host.patch({ recordLists: [{ field: 'few', create: [slug], remove: [] }], config })
    expectProblem(await few({}, 'x'), 422, 'mail.value_required', 'few.x.kind')
    expect((await few({ 'few.x.kind': 'a' }, 'x')).status).toBe(200)
    const without = await few({ 'few.y.kind': 'b' }, 'y')
    expectProblem(without, 422, 'mail.value_required', 'few.y.extra')
    expect((await few({ 'few.y.kind': 'b', 'few.y.extra': 'e' }, 'y')).status).toBe(200)
  })

  it('refuses a body that is too large, and of another type', async () => {
    const host = await configHost({}, kind)
    const big = { config: { sender: 'x'.repeat(66_000) } }
    expectProblem(await host.patch(big), 413, 'payload_too_large')
    const { bearer } = host.operator
    const headers = { 'content-type': 'text/plain' }
    const path = '/v1/admin/modules/mail/environments/production'
    const reply = await host.send('PATCH', path, { bearer, headers, body: '{}' })
    expectProblem(reply, 415, 'unsupported_media_type')
  })
})
