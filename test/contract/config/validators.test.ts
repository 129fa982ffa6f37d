import { describe, expect, it, vi } from 'vitest'
import { ConfigValidationError } from '../../../src/config/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { seenOf } from '../../support/hosts/open-host.js'
import { type ConfigHost, configHost, mailModule, refusing } from './config-host.js'

const doors = {
  'PATCH module': (host: ConfigHost) => host.change('PATCH', '', { config: { sender: 'x' } }),
  'PATCH environment': (host: ConfigHost) => host.patch({ config: { sender: 'x' } }),
  'PUT active-environment': (host: ConfigHost) =>
    host.change('PUT', '/active-environment', { environment: 'sandbox' }),
} as const

const both = (validator: () => never | ConfigValidationError | undefined) => ({
  modules: [mailModule({ validatePatch: validator, validateActivation: validator })],
})

const coded = refusing('The sender is wrong.', 'mail.sender_wrong')
/** A list that a host without types may return. */
const verdicts: unknown = [undefined, null, coded()]
const behindEmpty = () => verdicts as ConfigValidationError
const codeless: Readonly<Record<string, () => never | ConfigValidationError>> = {
  'returned without a code': refusing('The sender is wrong.'),
  'returned with an empty code': refusing('The sender is wrong.', ''),
  'thrown without a code': () => {
    throw new ConfigValidationError('sender', 'The sender is wrong.')
  },
  'a fault of its own': () => {
    throw new TypeError('cannot read properties')
  },
  'returned with a code that is no text': () =>
    Reflect.construct(ConfigValidationError, ['sender', 'The sender is wrong.', 5]),
  'returned without a field': () =>
    Reflect.construct(ConfigValidationError, [undefined, 'The sender is wrong.', 'mail.wrong']),
  'a fault with a code': () => {
    throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  },
}

describe('what a validator refuses with', () => {
  it('holds the field, the message and, where there is one, a code', () => {
    const error = new ConfigValidationError('hooks.a.url', 'Not reachable.', 'mail.unreachable')
    expect(error).toBeInstanceOf(Error)
    expect({ ...error }).toEqual({
      name: 'ConfigValidationError',
      field: 'hooks.a.url',
      code: 'mail.unreachable',
    })
    expect(error.message).toBe('Not reachable.')
    const plain = new ConfigValidationError('sender', 'Wrong.')
    expect([plain.field, plain.message, plain.code]).toEqual(['sender', 'Wrong.', undefined])
  })
})

eachSampleStore.describe('validators', (kind) => {
  describe.each(Object.entries(doors))('%s', (_door, send) => {
    it.each([
      ['returned', coded],
      ['returned behind an empty verdict', behindEmpty],
      [
        'thrown',
        () => {
          throw coded()
        },
      ],
    ])('with a code, %s', async (_how, validator) => {
      const host = await configHost(both(validator), kind)
      const reply = await send(host)
      expectProblem(reply, 422, 'mail.sender_wrong')
      expect(reply.json()).toEqual({
        status: 422,
        title: 'Unprocessable Entity',
        detail: 'The sender is wrong.',
        code: 'mail.sender_wrong',
      })
      await expectUnchanged(host)
    })

    it.each(Object.entries(codeless))('%s', async (_how, validator) => {
      const host = await configHost(both(validator), kind)
      const reply = await send(host)
      expect([reply.status, reply.headers.get('content-type'), reply.text]).toEqual([
        422,
        'text/plain; charset=utf-8',
        'Unprocessable Entity',
      ])
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
      await expectUnchanged(host)
    })
  })

  it('answer alike, byte for byte, at all three doors, with a code and without', async () => {
    const shown = async (validator: Parameters<typeof both>[0]) => {
      const replies: unknown[] = []
      for (const send of Object.values(doors)) {
        const host = await configHost(both(validator), kind)
        replies.push(seenOf(await send(host)))
        await expectUnchanged(host)
      }
      return replies
    }
    for (const [validator, body] of [
      [coded, /^\{"status":422,.*"code":"mail.sender_wrong"\}$/],
      [codeless['returned with an empty code'] ?? coded, /^Unprocessable Entity$/],
    ] as const) {
      const [first, ...others] = await shown(validator)
      expect(first).toMatchObject({ status: 422, text: expect.stringMatching(body) })
      expect(others).toEqual([first, first])
    }
  })

  it('a value that its declaration refuses has a code and names the key', async () => {
    const asked = vi.fn(() => undefined)
    const host = await configHost(both(asked), kind)
    for (const path of ['', '/environments/production']) {
      const send = (config: Record<string, string>) => host.change('PATCH', path, { config })
      expectProblem(await send({ port: 'many' }), 422, 'mail.value_malformed', 'port')
      expectProblem(await send({ port: '0' }), 422, 'mail.value_out_of_range', 'port')
    }
    expect(asked).not.toHaveBeenCalled()
    await expectUnchanged(host)
  })
})

eachSampleStore.describe('an activation', (kind) => {
  it('makes the environment the active one and asks for a restart, also where it was active before', async () => {
    const host = await configHost({}, kind)
    const put = (environment: string) => host.change('PUT', '/active-environment', { environment })
    const shown = async () => {
      const { items } = (await host.get('')).json()
      const { environments, ...module } = (await host.get('/mail')).json()
      return { items, environments, module }
    }
    const before = await shown()
    expect(before.module).toMatchObject({ activeEnvironment: 'production', needsRestart: false })
    const again = await put('production')
    const done = { module: 'mail', activeEnvironment: 'production', needsRestart: true }
    expect([again.status, again.json()]).toEqual([200, done])
    expect((await shown()).module).toEqual({ ...before.module, needsRestart: true })

    const switched = await put('sandbox')
    const activeEnvironment = 'sandbox'
    expect([switched.status, switched.json()]).toEqual([200, { ...done, activeEnvironment }])
    const after = await shown()
    expect(after.module).toEqual({ ...before.module, activeEnvironment, needsRestart: true })
    expect(after.items).toContainEqual({ name: 'mail', activeEnvironment, needsRestart: true })
    const active = { production: false, sandbox: true, spare: false }
    for (const [name, isActive] of Object.entries(active)) {
      const revision = expect.any(Number)
      expect(after.environments).toContainEqual({ name, active: isActive, revision })
    }
  })
})

async function expectUnchanged(host: ConfigHost): Promise<void> {
  expect(await host.raw()).toEqual({ revision: 1, values: {} })
  expect((await host.get('/mail')).json()).toMatchObject({
    activeEnvironment: 'production',
    needsRestart: false,
  })
}

describe('what a validator sees', () => {
  it.each([
    ['of the active environment, by the module', '', 'production'],
    ['of the active environment, by its name', '/environments/production', 'production'],
    ['of another environment', '/environments/sandbox', 'sandbox'],
  ])(
    'is the whole after the edit, decrypted, before it is stored: %s',
    async (_of, path, environment) => {
      const seen: unknown[] = []
      const refused = { now: false }
      const host: ConfigHost = await configHost({
        modules: [
          mailModule({
            async validatePatch({ environment: judged, values }) {
              seen.push({ judged, values, stored: (await host.raw(environment)).revision })
              return refused.now ? new ConfigValidationError('sender', 'No.', 'mail.no') : undefined
            },
          }),
        ],
      })
      const edit = (config: object) => host.change('PATCH', path, { config })
      expect((await edit({ password: 'S3CR3T-a', port: '26' })).status).toBe(200)
      const stored = await host.raw(environment)
      expect(stored.values['password']).toMatch(/^enc:v1:/)
      refused.now = true
      expectProblem(await edit({ sender: 'x', port: '' }), 422, 'mail.no')
      expect(await host.raw(environment)).toEqual(stored)
      expect(seen).toEqual([
        { judged: environment, values: { password: 'S3CR3T-a', port: '26' }, stored: 1 },
        {
          judged: environment,
          values: { password: 'S3CR3T-a', port: '', sender: 'x' },
          stored: 2,
        },
      ])
    },
  )

  it('the merged values, decrypted, before anything is written', async () => {
    const seen: unknown[] = []
    const host: ConfigHost = await configHost({
      modules: [
        mailModule({
          async validatePatch({ environment, values, settings, changedKeys }) {
            const stored = (await host.raw(environment)).values
            seen.push({ environment, values, changedKeys, stored: Object.keys(stored).sort() })
            expect(settings).toMatchObject({ secure: true })
          },
        }),
      ],
    })
    await host.patch({ config: { password: 'S3CR3T-a' } }, 'sandbox')
    await host.patch({ config: { sender: 'x' } }, 'sandbox')
    expect(seen).toEqual([
      {
        environment: 'sandbox',
        values: { password: 'S3CR3T-a' },
        changedKeys: ['password'],
        stored: [],
      },
      {
        environment: 'sandbox',
        values: { password: 'S3CR3T-a', sender: 'x' },
        changedKeys: ['sender'],
        stored: ['password'],
      },
    ])
  })

  it('names the secrets that do not decrypt, which look as if not set', async () => {
    const seen: unknown[] = []
    const note = (context: Readonly<Record<'unreadable' | 'values', unknown>>) => {
      seen.push([context.unreadable, context.values])
    }
    const host = await configHost({
      modules: [mailModule({ validatePatch: note, validateActivation: note })],
    })
    await host.plant({ password: `enc:v1:gone:${'n'.repeat(16)}:${'c'.repeat(30)}` })
    await host.patch({ config: { sender: 'x' } })
    await host.change('PUT', '/active-environment', { environment: 'production' })
    expect(seen).toEqual([
      [['password'], { sender: 'x' }],
      [['password'], { sender: 'x' }],
    ])
  })

  it('an activation looks for module and environment before any validator is asked', async () => {
    const validateActivation = vi.fn(() => undefined)
    const host = await configHost({ modules: [mailModule({ validateActivation })] })
    const put = (body: unknown) => host.change('PUT', '/active-environment', body)
    const { bearer } = host.operator
    const body = { environment: 'sandbox' }
    const elsewhere = '/v1/admin/modules/nobody/active-environment'
    expectProblem(await host.send('PUT', elsewhere, { bearer, body }), 404, 'module_not_found')
    for (const environment of ['nowhere', '__proto__', '', 'Sandbox']) {
      expectProblem(await put({ environment }), 404, 'environment_not_found')
    }
    expectProblem(await put({}), 400, 'invalid_request')
    expect(validateActivation).not.toHaveBeenCalled()
    expect((await host.get('/mail')).json()).toMatchObject({
      activeEnvironment: 'production',
      needsRestart: false,
    })
    expect((await put(body)).status).toBe(200)
    expect(validateActivation).toHaveBeenCalledTimes(1)
  })

  it('the activation validator is asked before the write, about the values to be activated', async () => {
    const seen: unknown[] = []
    const host: ConfigHost = await configHost({
      modules: [
        mailModule({
          async validateActivation({ environment, values }) {
            const stored = await moduleCollectionsOf(host.backend.store, '').modules.get('mail')
            const { activeEnvironment, needsRestart } = (await host.get('/mail')).json()
            const now = { activeEnvironment, needsRestart }
            seen.push({ environment, values, now, stored: stored?.activeEnvironment })
            return undefined
          },
        }),
      ],
    })
    await host.patch({ config: { password: 'S3CR3T-s', sender: 'sandbox@example.org' } }, 'sandbox')
    await host.patch({ config: { password: 'S3CR3T-p', port: '587' } })
    const body = { environment: 'sandbox' }
    expect((await host.change('PUT', '/active-environment', body)).status).toBe(200)
    expect(seen).toEqual([
      {
        environment: 'sandbox',
        values: { password: 'S3CR3T-s', sender: 'sandbox@example.org' },
        now: { activeEnvironment: 'production', needsRestart: false },
        stored: 'production',
      },
    ])
  })

  it.each(Object.entries({ ...codeless, 'returned with a code': coded }))(
    'a refused activation leaves the active environment and needsRestart as they were: %s',
    async (_how, refuse) => {
      const refused = { now: true }
      const validateActivation = () => (refused.now ? refuse() : undefined)
      const host = await configHost({ modules: [mailModule({ validateActivation })] })
      const put = (environment: string) =>
        host.change('PUT', '/active-environment', { environment })
      const expectNow = async (activeEnvironment: string, needsRestart: boolean) => {
        const shown = (await host.get('/mail')).json()
        expect(shown).toMatchObject({ activeEnvironment, needsRestart })
      }
      expect((await put('sandbox')).status).toBe(422)
      await expectNow('production', false)
      refused.now = false
      expect((await put('sandbox')).status).toBe(200)
      await expectNow('sandbox', true)
      refused.now = true
      for (const environment of ['production', 'spare', 'sandbox']) {
        expect((await put(environment)).status).toBe(422)
        await expectNow('sandbox', true)
      }
    },
  )

  it('without a validator of its own, an activation judges no values, however wrong', async () => {
    const validatePatch = vi.fn(({ values }: { values: Readonly<Record<string, string>> }) =>
      values['sender'] === 'wrong' ? coded() : undefined,
    )
    const host = await configHost({ modules: [mailModule({ validatePatch })] })
    await host.patch({ config: { sender: 'right', port: '2525' } }, 'sandbox')
    const wrong = { sender: 'wrong' }
    expectProblem(await host.patch({ config: wrong }, 'sandbox'), 422, 'mail.sender_wrong')
    // As an older version of the module left it.
    const { environments } = moduleCollectionsOf(host.backend.store, '')
    const { values } = await host.raw('sandbox')
    const left = { values: { ...values, ...wrong } }
    await environments.update('mail/sandbox', { revision: 2 }, left)
    expect((await host.raw('sandbox')).values).toMatchObject({ sender: 'wrong', port: '2525' })
    validatePatch.mockClear()
    const body = { environment: 'sandbox' }
    const reply = await host.change('PUT', '/active-environment', body)
    expect([reply.status, reply.json()['activeEnvironment']]).toEqual([200, 'sandbox'])
    expect(validatePatch).not.toHaveBeenCalled()
  })

  it.each([
    [
      'message',
      (secret: string) => new ConfigValidationError('sender', `No ${secret}.`, 'mail.no'),
    ],
    ['code', (secret: string) => new ConfigValidationError('sender', 'No.', `mail.${secret}`)],
    ['field', (secret: string) => new ConfigValidationError(secret, 'No.', 'mail.no')],
    [
      'message, as JSON',
      (secret: string) =>
        new ConfigValidationError('sender', JSON.stringify({ secret }), 'mail.no'),
    ],
    [
      'message, as in a URL',
      (secret: string) => new ConfigValidationError('s', encodeURIComponent(secret), 'mail.no'),
    ],
  ])('an error that quotes a secret in its %s is dropped whole', async (_where, refuse) => {
    const secrets = ['S3CR3T-old', 'S3CR3T-"new"\n', 'S3CR3T.*list']
    const quoted = { now: '' }
    const host = await configHost({
      modules: [
        mailModule({
          validatePatch: ({ changedKeys }) =>
            changedKeys.includes('sender') ? refuse(quoted.now) : undefined,
        }),
      ],
    })
    await host.patch({
      recordLists: [{ field: 'hooks', create: ['a'], remove: [] }],
      config: { password: secrets[0] ?? '', 'hooks.a.key': secrets[2] ?? '' },
    })
    for (const secret of secrets) {
      quoted.now = secret
      const reply = await host.patch({ config: { sender: 'x', token: secrets[1] ?? '' } })
      expect([reply.status, reply.text]).toEqual([422, 'Unprocessable Entity'])
    }
    expect(host.logger.lines.filter(({ level }) => level === 'error')).toHaveLength(secrets.length)
    expect(JSON.stringify([host.logger.lines, host.events])).not.toContain('S3CR3T')
    quoted.now = 'nothing of the kind'
    const told = await host.patch({ config: { sender: 'x' } })
    expect(told.status).toBe(422)
    expect(told.json()['code']).toMatch(/^mail[.]no/)
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['S3CR3T-top', 'replaces', { config: { password: 'S3CR3T-new' } }],
    ['S3CR3T-top', 'clears', { config: { password: '' } }],
    ['S3CR3T-sub', 'removes', { recordLists: [{ field: 'hooks', create: [], remove: ['a'] }] }],
  ])('so is one that quotes %s, a secret that the edit %s', async (secret, _what, edit) => {
    const quoted = { now: '' }
    const validatePatch = () =>
      quoted.now === ''
        ? undefined
        : new ConfigValidationError('s', `Was ${quoted.now}.`, 'mail.no')
    const host = await configHost({ modules: [mailModule({ validatePatch })] })
    await host.patch({
      recordLists: [{ field: 'hooks', create: ['a'], remove: [] }],
      config: { password: 'S3CR3T-top', 'hooks.a.key': 'S3CR3T-sub' },
    })
    quoted.now = secret
    const reply = await host.patch({ ...edit, revision: 2 })
    expect([reply.status, reply.text]).toEqual([422, 'Unprocessable Entity'])
    expect(JSON.stringify([host.logger.lines, host.events])).not.toContain('S3CR3T')
  })

  it.each([
    ['the module', 'S3CR3T-top'],
    ['an element of a list', 'S3CR3T-sub'],
  ])('so is one that quotes a secret of %s at an activation', async (_whose, secret) => {
    const validateActivation = () => new ConfigValidationError('s', `No ${secret}.`, 'mail.no')
    const host = await configHost({ modules: [mailModule({ validateActivation })] })
    await host.patch({
      recordLists: [{ field: 'hooks', create: ['a'], remove: [] }],
      config: { password: 'S3CR3T-top', 'hooks.a.key': 'S3CR3T-sub' },
    })
    const environment = 'production'
    const reply = await host.change('PUT', '/active-environment', { environment })
    expect([reply.status, reply.text]).toEqual([422, 'Unprocessable Entity'])
    expect(JSON.stringify([host.logger.lines, host.events])).not.toContain('S3CR3T')
  })

  it('an edit of a revision that is gone is refused before any validator is asked', async () => {
    const validatePatch = vi.fn(() => undefined)
    const host = await configHost({ modules: [mailModule({ validatePatch })] })
    const stale = await host.patch({ config: { sender: 'x' }, revision: 7 })
    expectProblem(stale, 409, 'config.revision_conflict')
    expect(validatePatch).not.toHaveBeenCalled()
  })
})
