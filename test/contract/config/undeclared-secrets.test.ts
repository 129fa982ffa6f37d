import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { defineModule, type FieldDeclaration } from '../../../src/config/index.js'
import { configKey } from '../../support/keys.js'
import { configHost } from './config-host.js'

const label = 'Field'
const sender = { key: 'sender', label, type: 'FieldString', group: 'Mail' } as const
const url = { key: 'url', label, type: 'FieldString' } as const
const environments = ['production'] as const
const secrets = ['S3CR3T-top-level', 'S3CR3T-sub-field'] as const

/** As it was declared once: with a secret, and with one in each hook. */
const before = defineModule({
  name: 'mail',
  environments,
  fields: [
    sender,
    { key: 'old', label, type: 'FieldSecret', group: 'Mail' },
    {
      key: 'hooks',
      label,
      type: 'FieldRecordList',
      group: 'Mail',
      items: [url, { key: 'old', label, type: 'FieldSecret' }],
    },
  ],
})

const fields = [
  sender,
  { key: 'hooks', label, type: 'FieldRecordList', group: 'Mail', items: [url] },
] as const satisfies readonly FieldDeclaration[]

/** A store in which an earlier version left secrets that nothing declares any more. */
async function leftBehind() {
  const backend = memory()
  const host = await configHost({ backend, modules: [before] })
  const [old, inHook] = secrets
  const recordLists = [{ field: 'hooks', create: ['a'], remove: [] }]
  const reply = await host.patch({ recordLists, config: { old, 'hooks.a.old': inHook } })
  expect(reply.status).toBe(200)
  return backend
}

describe('secrets that are declared no more', () => {
  it('are decrypted for nobody, so that no validator can tell of them', async () => {
    const seen: string[] = []
    const look = ({ values }: { values: Readonly<Record<string, string>> }) => {
      seen.push(JSON.stringify(values))
    }
    const now = defineModule({
      name: 'mail',
      environments,
      fields,
      validatePatch: look,
      validateActivation: look,
    })
    const host = await configHost({ backend: await leftBehind(), modules: [now] })
    await host.patch({ config: { sender: 'x' } })
    await host.change('PUT', '/active-environment', { environment: 'production' })
    expect(seen).toHaveLength(2)
    for (const secret of secrets) expect(seen.join()).not.toContain(secret)
  })

  it('are no error of an element whose declared fields are all readable', async () => {
    const now = defineModule({ name: 'mail', environments, fields })
    const configKeys = [configKey('next')]
    const host = await configHost({ backend: await leftBehind(), modules: [now], configKeys })
    const { hooks } = await host.auth.config.read(now)
    expect(JSON.stringify(hooks)).toBe('[{"url":"","slug":"a","label":"a"}]')
  })

  it('are still encrypted anew with the others, and reported when they cannot be', async () => {
    const now = defineModule({ name: 'mail', environments, fields })
    const backend = await leftBehind()
    const configKeys = [configKey('next')]
    const host = await configHost({ backend, modules: [now], configKeys })
    const { damaged } = await host.auth.config.reencrypt()
    expect(damaged.map(({ key }) => key)).toEqual(['hooks.a.old', 'old'])
  })
})
