import { expect, it } from 'vitest'
import { ConfigValidationError, defineModule } from '../../../src/config/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { type ConfigHost, configHost, mailModule } from './config-host.js'

const environments = ['production', 'sandbox', 'spare'] as const

/** The active one as each reply has it; fails unless all replies agree on one. */
async function activeOf(host: ConfigHost): Promise<string> {
  const { environments: listed, activeEnvironment } = (await host.get('/mail')).json() as {
    environments: readonly { name: string; active: boolean }[]
    activeEnvironment: string
  }
  const marked = listed.filter(({ active }) => active).map(({ name }) => name)
  expect(marked).toEqual([activeEnvironment])
  return activeEnvironment
}

async function eachActive(host: ConfigHost): Promise<readonly unknown[]> {
  const all = await Promise.all(environments.map((environment) => host.read(environment)))
  return all.flatMap(({ environment, active }) => (active ? [environment] : []))
}

const activate = (host: ConfigHost, environment: string) =>
  host.change('PUT', '/active-environment', { environment })

eachSampleStore.describe('the configuration of a module', (kind) => {
  it('has profiles, encrypted secrets, validators and record lists, by routes of operators', async () => {
    const module = mailModule({
      validatePatch: ({ values }) =>
        values['sender'] === 'refused'
          ? new ConfigValidationError('sender', 'No.', 'mail.no')
          : undefined,
    })
    const host = await configHost({ modules: [module] }, kind)
    expect((await host.get('')).json()['items']).toContainEqual({
      name: 'mail',
      activeEnvironment: 'production',
      needsRestart: false,
    })
    const made = await host.patch(
      {
        config: { sender: 'a@b.example', password: 'S3CR3T', 'hooks.eu.url': 'https://eu.example' },
        recordLists: [{ field: 'hooks', create: ['eu'], remove: [] }],
      },
      'sandbox',
    )
    expect(made.status, made.text).toBe(200)
    expect(await host.read('sandbox')).toMatchObject({
      config: { sender: 'a@b.example' },
      secretsSet: ['password'],
      recordLists: [
        { field: 'hooks', elements: [{ slug: 'eu', url: 'https://eu.example', key: null }] },
        { field: 'few', elements: [] },
      ],
    })
    const { values } = await host.raw('sandbox')
    expect(values['password']).toMatch(/^enc:v1:/)
    expect(JSON.stringify([values, await host.read('sandbox')])).not.toContain('S3CR3T')
    expectProblem(await host.patch({ config: { sender: 'refused' } }, 'sandbox'), 422, 'mail.no')
    expect(await host.auth.config.read(module)).toMatchObject({ sender: '', hooks: [] })
    expect((await activate(host, 'sandbox')).status).toBe(200)
    expect(await host.auth.config.read(module)).toMatchObject({
      sender: 'a@b.example',
      password: 'S3CR3T',
      hooks: [{ slug: 'eu', url: 'https://eu.example' }],
    })
  })

  it('has one active environment, at first, after each switch and while twenty race', async () => {
    const host = await configHost({}, kind)
    expect([await activeOf(host), await eachActive(host)]).toEqual(['production', ['production']])
    for (const environment of ['sandbox', 'spare', 'spare', 'production']) {
      expect((await activate(host, environment)).status).toBe(200)
      expect([await activeOf(host), await eachActive(host)]).toEqual([environment, [environment]])
    }
    const switching = Array.from({ length: 20 }, (_, n) =>
      activate(host, environments[n % 3] ?? 'production'),
    )
    const looks = Array.from({ length: 20 }, () => activeOf(host))
    const statuses = (await Promise.all(switching)).map(({ status }) => status)
    await Promise.all(looks)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    const last = await activeOf(host)
    expect(environments).toContain(last)
    expect(await eachActive(host)).toEqual([last])
  })

  it('is loaded from the active environment alone, at once here and within 30 s elsewhere', async () => {
    const module = mailModule()
    const host = await configHost({ modules: [module] }, kind)
    const elsewhere = await testAuth({ backend: host.backend, modules: [module] })
    const seen = async () => {
      const both = [await host.auth.config.read(module), await elsewhere.auth.config.read(module)]
      return both.map(({ sender, port }) => [sender, port])
    }
    await host.patch({ config: { sender: 'live' } })
    await host.patch({ config: { sender: 'sandy', port: '26' } }, 'sandbox')
    await elsewhere.clock.advance(30_000)
    expect(await seen()).toEqual([
      ['live', 25],
      ['live', 25],
    ])
    await activate(host, 'sandbox')
    expect((await seen())[0]).toEqual(['sandy', 26])
    await elsewhere.clock.advance(30_000)
    expect((await seen())[1]).toEqual(['sandy', 26])
    // Nothing of the one is mixed into the other.
    await activate(host, 'spare')
    expect((await seen())[0]).toEqual(['', 25])
  })

  it('has a whole number of edits for each environment, in the reply of that environment', async () => {
    const host = await configHost({}, kind)
    const revisions = async () => {
      const all = await Promise.all(environments.map((environment) => host.read(environment)))
      return all.map(({ revision }) => revision)
    }
    expect(await revisions()).toEqual([1, 1, 1])
    await host.patch({ config: { sender: 'a' } }, 'sandbox')
    await host.patch({ config: { sender: 'b' } }, 'sandbox')
    await host.patch({ config: { sender: 'c' } })
    expect(await revisions()).toEqual([2, 3, 1])
  })

  it('shows its declaration whole, and encrypts what is marked secret, whatever its type', async () => {
    const items = [
      { key: 'kind', label: 'Kind', type: 'FieldSelect', options: ['a', 'b'], required: true },
      {
        key: 'extra',
        label: 'Extra',
        type: 'FieldSecret',
        required: true,
        condition: { field: 'kind', equals: 'b' },
      },
    ] as const
    const fields = [
      { key: 'name', label: 'Name', type: 'FieldString', group: 'G', envVar: 'NAME', max: 20 },
      {
        key: 'token',
        label: 'Token',
        type: 'FieldString',
        group: 'G',
        secret: true,
        envVar: 'TOKEN',
      },
      { key: 'list', label: 'List', type: 'FieldRecordList', group: 'G', items, max: 2 },
    ] as const
    const module = defineModule({ name: 'mail', environments: ['production'], fields })
    const host = await configHost({ modules: [module], env: { TOKEN: 'S3CR3T-env' } }, kind)
    const mail = await host.get('/mail')
    expect(mail.json()['fields']).toEqual(fields)
    const sealed = async () => (await host.raw()).values['token']
    expect(await sealed()).toMatch(/^enc:v1:/)
    const edited = await host.patch({ config: { token: 'S3CR3T-new', name: 'n'.repeat(20) } })
    expect(edited.status, edited.text).toBe(200)
    expect(await sealed()).toMatch(/^enc:v1:/)
    for (const { text } of [mail, edited, await host.get('/mail/environments/production')]) {
      expect(text).not.toContain('S3CR3T')
    }
    expect((await host.patch({ config: { name: 'n'.repeat(21) } })).status).toBe(422)
  })

  it('has needsRestart, which a switch sets and every reading of the module shows', async () => {
    const host = await configHost({}, kind)
    const shown = async () => {
      const items = (await host.get('')).json()['items'] as readonly Record<string, unknown>[]
      const listed = items.find(({ name }) => name === 'mail')
      return [listed?.['needsRestart'], (await host.get('/mail')).json()['needsRestart']]
    }
    expect(await shown()).toEqual([false, false])
    await host.patch({ config: { sender: 'x' } })
    expectProblem(await activate(host, 'nowhere'), 404, 'environment_not_found')
    expect(await shown()).toEqual([false, false])
    expect((await activate(host, 'sandbox')).json()['needsRestart']).toBe(true)
    expect(await shown()).toEqual([true, true])
    expect((await activate(host, 'production')).json()['needsRestart']).toBe(true)
    expect(await shown()).toEqual([true, true])
  })
})
