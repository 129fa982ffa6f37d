import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { type ConfigHost, configHost, mailModule, refusing } from './config-host.js'

const list = (create: readonly string[] = [], remove: readonly string[] = [], field = 'hooks') => ({
  field,
  create,
  remove,
})
const creating = (...slugs: string[]) => ({ recordLists: [list(slugs)] })
const removing = (...slugs: string[]) => ({ recordLists: [list([], slugs)] })
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `e-${from + index}`)
const roster = async (host: ConfigHost) => (await host.raw()).values['hooks.__items']

async function withElements(...slugs: string[]): Promise<ConfigHost> {
  const host = await configHost()
  expect((await host.patch(creating(...slugs))).status).toBe(200)
  return host
}

/** Refused with this, and nothing is changed by it. */
async function expectRefused(host: ConfigHost, body: unknown, outcome: string): Promise<void> {
  const before = await host.raw()
  const reply = await host.patch(body)
  expect([JSON.stringify(body).slice(0, 200), outcomeOf(reply)]).toEqual([
    JSON.stringify(body).slice(0, 200),
    outcome,
  ])
  expect(await host.raw()).toEqual(before)
}

describe('the elements of a record list', () => {
  it('change by an edit of an environment that says so, and by nothing else', async () => {
    const host = await withElements('a')
    const before = await host.raw()
    for (const body of [
      creating('x'),
      { ...removing('a'), revision: 2 },
      { recordLists: [] },
      { config: { 'hooks.__items': 'x' } },
      { config: { 'hooks.__items': '' } },
    ]) {
      const reply = await host.change('PATCH', '', body)
      expectProblem(reply, 422, 'config.membership_not_allowed')
    }
    for (const items of ['x', 'a,x', '']) {
      const reply = await host.patch({ config: { 'hooks.__items': items } })
      expectProblem(reply, 422, 'config.membership_not_allowed')
    }
    expect(await host.raw()).toEqual(before)
    expect((await host.patch(creating('x'))).status).toBe(200)
    expect(await roster(host)).toBe('a,x')
  })

  it('are not made by keys of one that is not created', async () => {
    const host = await withElements('a')
    const conflict = '409 config.roster_conflict'
    await expectRefused(host, { config: { 'hooks.new.__label': 'New' } }, conflict)
    await expectRefused(host, { config: { 'hooks.new.url': 'u', 'hooks.a.url': 'v' } }, conflict)
    const other = { ...creating('other'), config: { 'hooks.new.url': 'u' } }
    await expectRefused(host, other, conflict)
    const shown = JSON.stringify(await host.read())
    expect(shown).not.toContain('new')
  })

  it('come with their keys in the request that creates them', async () => {
    const host = await configHost()
    const config = { 'hooks.n.__label': 'New', 'hooks.n.url': 'u', 'hooks.n.key': 'S3CR3T' }
    const reply = await host.patch({ ...creating('n'), config })
    expect(reply.status).toBe(200)
    expect(reply.json()).toMatchObject({
      recordLists: [{ elements: [{ slug: 'n', label: 'New', url: 'u', key: null }] }, {}],
      secretsSet: ['hooks.n.key'],
    })
  })

  it('are removed with a revision only, and 0 is one', async () => {
    const host = await withElements('a', 'b')
    const missing = '422 config.removal_requires_revision'
    await expectRefused(host, removing('a'), missing)
    await expectRefused(host, { recordLists: [list(['c'], ['a'])] }, missing)
    await expectRefused(host, { ...removing('a'), revision: null }, '400 invalid_request')
    await expectRefused(host, { ...removing('a'), revision: '2' }, '400 invalid_request')
    // Stated, and stale: not the same as left out.
    await expectRefused(host, { ...removing('a'), revision: 0 }, '409 config.revision_conflict')
    expect((await host.patch({ recordLists: [list(['c'], [])] })).status).toBe(200)
    expect((await host.patch({ recordLists: [list()] })).status).toBe(200)
    expect((await host.patch({ ...removing('a'), revision: 3 })).status).toBe(200)
    expect(await roster(host)).toBe('b,c')
  })

  it('are added with a revision or without', async () => {
    const host = await withElements('a')
    expect((await host.patch({ ...creating('b'), config: { 'hooks.b.url': 'u' } })).status).toBe(
      200,
    )
    expect((await host.patch({ ...creating('c'), revision: 3 })).status).toBe(200)
    expect(await roster(host)).toBe('a,b,c')
  })

  it('take all their keys along, secrets and undeclared ones included', async () => {
    const host = await withElements('a', 'b')
    await host.patch({
      config: { 'hooks.a.__label': 'A', 'hooks.a.url': 'u', 'hooks.a.key': 'S3CR3T', sender: 's' },
    })
    // Of a sub-field that an older declaration had.
    await host.plant({ 'hooks.a.retired': 'enc:v1:test:x:y' })
    const { revision } = await host.raw()
    expect((await host.patch({ ...removing('a'), revision })).status).toBe(200)
    const left = (await host.raw()).values
    expect(left).toEqual({ 'hooks.__items': 'b', sender: 's' })
    await host.patch(creating('a'))
    expect((await host.raw()).values).toEqual({ 'hooks.__items': 'b,a', sender: 's' })
    expect((await host.read())['secretsSet']).toEqual([])
  })

  it('leave alone those whose slugs begin like theirs', async () => {
    const host = await withElements('a', 'a-b', 'ab', 'b')
    const config = Object.fromEntries(
      ['a', 'a-b', 'ab', 'b'].flatMap((slug) => [
        [`hooks.${slug}.__label`, slug.toUpperCase()],
        [`hooks.${slug}.url`, `of ${slug}`],
      ]),
    )
    await host.patch({ config })
    await host.patch({ ...removing('a'), revision: 3 })
    const kept = Object.entries(config).filter(([key]) => !key.startsWith('hooks.a.'))
    expect((await host.raw()).values).toEqual({
      'hooks.__items': 'a-b,ab,b',
      ...Object.fromEntries(kept),
    })
  })

  it('are created once: 409 for one that exists, in a race and without a revision', async () => {
    const host = await withElements('a')
    const conflict = '409 config.roster_conflict'
    await expectRefused(host, creating('a'), conflict)
    await expectRefused(host, creating('new', 'a'), conflict)
    await expectRefused(host, { ...creating('a'), revision: 2 }, conflict)
    const racers = await Promise.all(['x', 'x', 'y', 'x'].map((slug) => host.patch(creating(slug))))
    expect(racers.map(outcomeOf).sort()).toEqual(['200', '200', conflict, conflict])
    expect((await roster(host))?.split(',').sort()).toEqual(['a', 'x', 'y'])
  })

  it('are removed once: 409 for one that no longer exists', async () => {
    const host = await withElements('a', 'b')
    expect((await host.patch({ ...removing('a'), revision: 2 })).status).toBe(200)
    const conflict = '409 config.roster_conflict'
    await expectRefused(host, { ...removing('a'), revision: 3 }, conflict)
    await expectRefused(host, { ...removing('b', 'a'), revision: 3 }, conflict)
    await expectRefused(host, { ...removing('never'), revision: 3 }, conflict)
  })

  it('a field named twice is 422, whatever the two say', async () => {
    const host = await withElements('a')
    for (const recordLists of [
      [list(['x']), list(['y'])],
      [list(), list()],
      [list(['x']), list()],
      [list(['x']), list([], ['a'])],
      [list(['x']), list(['z'], [], 'few'), list(['y'])],
    ]) {
      await expectRefused(host, { recordLists, revision: 2 }, '422 config.duplicate_field')
    }
  })

  it('a slug to create and to remove is 422, there or not', async () => {
    const host = await withElements('a')
    for (const slug of ['a', 'x']) {
      const recordLists = [list(['y', slug], [slug])]
      await expectRefused(host, { recordLists, revision: 2 }, '422 config.create_and_remove')
    }
  })

  it('are fifty at most, after the whole of an edit', async () => {
    const tooMany = '422 config.too_many_elements'
    const host = await withElements(...numbered(49))
    await expectRefused(host, creating('x', 'y'), tooMany)
    expect((await host.patch(creating('last'))).status).toBe(200)
    await expectRefused(host, creating('x'), tooMany)
    await expectRefused(host, { recordLists: [list(['x', 'y'], ['e-0'])], revision: 3 }, tooMany)
    const swap = { recordLists: [list(['x'], ['e-0'])], revision: 3 }
    expect((await host.patch(swap)).status).toBe(200)
    const empty = await configHost()
    await expectRefused(empty, creating(...numbered(51)), tooMany)
    expect((await empty.patch(creating(...numbered(50)))).status).toBe(200)
  })

  it('what can never succeed is 422 at any revision, what moved is 409', async () => {
    const host = await withElements(...numbered(50))
    const never: [object, string][] = [
      [{ recordLists: [list(['x']), list(['y'])] }, 'config.duplicate_field'],
      [{ recordLists: [list(['x'], ['x'])] }, 'config.create_and_remove'],
      [creating(...numbered(51, 100)), 'config.too_many_elements'],
      [creating('A b'), 'config.invalid_slug'],
      [{ config: { sendr: 'x' } }, 'config.unknown_key'],
    ]
    for (const [body, code] of never) {
      for (const revision of [0, 1, 2, 3]) {
        await expectRefused(host, { ...body, revision }, `422 ${code}`)
      }
    }
    await expectRefused(host, removing('e-0'), '422 config.removal_requires_revision')
    for (const revision of [0, 1, 3]) {
      const moved = '409 config.revision_conflict'
      await expectRefused(host, { ...removing('e-0'), revision }, moved)
      await expectRefused(host, { config: { sender: 'x' }, revision }, moved)
    }
  })

  it('take no keys in the request that removes them', async () => {
    const host = await withElements('a', 'b')
    for (const key of ['hooks.a.url', 'hooks.a.__label', 'hooks.a.key']) {
      for (const text of ['u', '']) {
        const body = { ...removing('a'), config: { 'hooks.b.url': 'v', [key]: text }, revision: 2 }
        await expectRefused(host, body, '422 config.unknown_key')
      }
    }
  })

  it('what there is not is 404, what is not declared is 422', async () => {
    const host = await withElements('a')
    const { bearer } = host.operator
    const body = { config: { sender: 'x' } }
    const to = async (path: string, method = 'PATCH', more: object = body) =>
      outcomeOf(await host.send(method, `/v1/admin/modules/${path}`, { bearer, body: more }))
    expect(await to('nobody')).toBe('404 module_not_found')
    expect(await to('nobody/environments/production')).toBe('404 module_not_found')
    expect(await to('mail/environments/nowhere')).toBe('404 environment_not_found')
    const environment = { environment: 'nowhere' }
    expect(await to('mail/active-environment', 'PUT', environment)).toBe(
      '404 environment_not_found',
    )
    const unknown = '422 config.unknown_key'
    for (const key of ['sendr', 'hooks', 'hooks.a.nope', 'sender.a.url', 'hooks.__order']) {
      await expectRefused(host, { config: { [key]: 'x' } }, unknown)
    }
    for (const field of ['nope', 'sender', 'hooks.a', '__proto__']) {
      await expectRefused(host, { recordLists: [list(['x'], [], field)] }, unknown)
    }
    const slugs = [
      'A',
      'a_b',
      '-a',
      'a-',
      'a--b',
      'a,b',
      'a.b',
      '__x',
      '',
      ' ',
      'é',
      'x'.repeat(64),
    ]
    for (const slug of slugs) await expectRefused(host, creating(slug), '422 config.invalid_slug')
    await expectRefused(host, creating('x', 'x'), '422 config.invalid_slug')
    const twice = { ...removing('a', 'a'), revision: 2 }
    await expectRefused(host, twice, '422 config.invalid_slug')
    expect((await host.patch(creating('x'.repeat(63)))).status).toBe(200)
  })
})

describe('what a change of the configuration is refused with', () => {
  it('is an envelope, a bare text, a code of record lists, or a conflict to read again for', async () => {
    const quiet = { now: '' as string | undefined }
    const host = await configHost({
      modules: [
        mailModule({
          validatePatch: ({ changedKeys }) =>
            changedKeys.includes('sender') ? refusing('Not this sender.', quiet.now)() : undefined,
        }),
      ],
    })
    expect((await host.patch(creating('a'))).status).toBe(200)
    const before = await host.raw()
    const sender = { config: { sender: 'x' } }
    const told = async (body: unknown) => {
      const reply = await host.patch(body)
      expect(await host.raw()).toEqual(before)
      return [reply.status, reply.headers.get('content-type'), JSON.parse(reply.text)]
    }
    const problem = 'application/problem+json; charset=utf-8'
    const title = 'Unprocessable Entity'
    quiet.now = 'mail.sender_wrong'
    expect(await told(sender)).toEqual([
      422,
      problem,
      { status: 422, title, detail: 'Not this sender.', code: 'mail.sender_wrong' },
    ])
    for (const none of ['', undefined]) {
      quiet.now = none
      const bare = await host.patch(sender)
      expect([bare.status, bare.headers.get('content-type'), bare.text]).toEqual([
        422,
        'text/plain; charset=utf-8',
        title,
      ])
    }
    const never: [unknown, string][] = [
      [removing('a'), 'config.removal_requires_revision'],
      [{ recordLists: [list(['x']), list(['y'])] }, 'config.duplicate_field'],
      [{ recordLists: [list(['x'], ['x'])], revision: 2 }, 'config.create_and_remove'],
      [creating(...numbered(51)), 'config.too_many_elements'],
    ]
    for (const [body, code] of never) {
      const refusal = { status: 422, title, detail: expect.stringContaining('hooks'), code }
      expect(await told(body)).toEqual([422, problem, refusal])
    }
    const moved: [unknown, string][] = [
      [{ ...removing('a'), revision: 1 }, 'config.revision_conflict'],
      [creating('a'), 'config.roster_conflict'],
      [{ ...removing('gone'), revision: 2 }, 'config.roster_conflict'],
    ]
    for (const [body, code] of moved) {
      const detail = expect.stringMatching(/Read .* again and retry/)
      const field = code === 'config.roster_conflict' ? { field: 'hooks' } : {}
      const conflict = { status: 409, title: 'Conflict', detail, code, ...field }
      expect(await told(body)).toEqual([409, problem, conflict])
    }
    expect(await host.raw()).toEqual(before)
  })
})
