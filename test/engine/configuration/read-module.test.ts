import { describe, expect, expectTypeOf, test } from 'vitest'
import { defineModule, type ModuleValues } from '../../../src/config/define-module.js'
import {
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import { readModule } from '../../../src/engine/configuration/module-values.js'
import { ConfigValidationError } from '../../../src/errors/index.js'
import { deepFreeze } from './mail-module.js'

const group = 'Mail'
const mail = deepFreeze(
  defineModule({
    name: 'mail',
    environments: ['production', 'sandbox'],
    fields: [
      { key: 'sender', label: 'Sender', type: FieldString, group, max: 10 },
      { key: 'apiKey', label: 'API key', type: FieldSecret, group, max: 10 },
      { key: 'enabled', label: 'Enabled', type: FieldBool, group, default: 'true' },
      { key: 'quiet', label: 'Quiet', type: FieldBool, group },
      { key: 'retries', label: 'Retries', type: FieldInt, group, default: '3', max: 10 },
      { key: 'port', label: 'Port', type: FieldInt, group },
      { key: 'timeout', label: 'Timeout', type: FieldDuration, group, default: '30s', max: 60_000 },
      { key: 'mode', label: 'Mode', type: FieldSelect, group, options: ['smtp', 'api'] },
      {
        key: 'format',
        label: 'Format',
        type: FieldSelect,
        group,
        options: ['html', 'text'],
        default: 'text',
      },
      { key: 'constructor', label: 'Maker', type: FieldString, group },
      { key: 'token', label: 'Token', type: FieldString, secret: true, group, min: 20, max: 30 },
      {
        key: 'hooks',
        label: 'Hooks',
        type: FieldRecordList,
        group,
        items: [
          { key: 'url', label: 'URL', type: FieldString, required: true },
          { key: 'kind', label: 'Kind', type: FieldSelect, options: ['open', 'signed'] },
          { key: 'every', label: 'Every', type: FieldDuration, max: 1000 },
          { key: 'active', label: 'Active', type: FieldBool },
        ],
      },
    ],
    validatePatch({ settings, changedKeys }) {
      expectTypeOf(settings.retries).toEqualTypeOf<number>()
      expectTypeOf(changedKeys).toEqualTypeOf<readonly string[]>()
      if (settings.retries > 5 && settings.mode === 'smtp') {
        return new ConfigValidationError('retries', 'too many for SMTP', 'mail.too_many_retries')
      }
      return null
    },
    async validateActivation({ environment }) {
      if (environment === 'nowhere') throw new Error('no')
    },
  }),
)

function read(values: Readonly<Record<string, string>>) {
  const warnings: string[] = []
  const settings = readModule(deepFreeze(values), mail, (message) => warnings.push(message))
  return { settings, warnings }
}

const unset = {
  sender: '',
  apiKey: '',
  enabled: true,
  quiet: false,
  retries: 3,
  port: null,
  timeout: 30_000,
  mode: null,
  format: 'text',
  constructor: '',
  token: '',
  hooks: [],
}

describe('readModule', () => {
  test('what was never set or was cleared reads as its default', () => {
    expect(read({})).toEqual({ settings: unset, warnings: [] })
    const cleared = Object.fromEntries(mail.fields.map(({ key }) => [key, '']))
    expect(read(cleared)).toEqual({ settings: unset, warnings: [] })
  })

  test('reads every type, durations as milliseconds, elements in order', () => {
    const { settings, warnings } = read({
      sender: 'me',
      apiKey: 'much longer than ten',
      enabled: 'false',
      retries: '5',
      port: '25',
      timeout: '1m',
      mode: 'api',
      format: 'html',
      'hooks.__items': 'b,a',
      'hooks.b.url': 'https://b.example',
      'hooks.b.every': '250ms',
      'hooks.a.__label': 'The A',
      'hooks.a.kind': 'signed',
      'hooks.a.active': 'true',
    })
    expect(settings).toEqual({
      ...unset,
      sender: 'me',
      apiKey: 'much longer than ten',
      enabled: false,
      retries: 5,
      port: 25,
      timeout: 60_000,
      mode: 'api',
      format: 'html',
      hooks: [
        { slug: 'b', label: 'b', url: 'https://b.example', kind: null, every: 250, active: false },
        { slug: 'a', label: 'The A', url: '', kind: 'signed', every: null, active: true },
      ],
    })
    expect(warnings).toEqual([])
  })

  test('never throws: out of range is the nearest, unreadable the default, and both are told', () => {
    const { settings, warnings } = read({
      sender: 'S3CR3T-too-long',
      retries: '99',
      timeout: 'soon',
      mode: 'S3CR3T',
      enabled: 'yes',
      'hooks.__items': 'a',
      'hooks.a.kind': 'closed',
      'hooks.a.every': '1h',
    })
    expect(settings).toEqual({
      ...unset,
      sender: 'S3CR3T-too',
      retries: 10,
      hooks: [{ slug: 'a', label: 'a', url: '', kind: null, every: 1000, active: false }],
    })
    expect(warnings).toEqual([
      'Setting "mail.sender" is out of range; the nearest allowed value is used.',
      'Setting "mail.enabled" cannot be read; it counts as not set.',
      'Setting "mail.retries" is out of range; the nearest allowed value is used.',
      'Setting "mail.timeout" cannot be read; it counts as not set.',
      'Setting "mail.mode" cannot be read; it counts as not set.',
      'Setting "mail.hooks.a.kind" cannot be read; it counts as not set.',
      'Setting "mail.hooks.a.every" is out of range; the nearest allowed value is used.',
    ])
    expect(warnings.join()).not.toContain('S3CR3T')
  })

  test.each([15, 25, 40])(
    'a text declared as secret is given whole, of %i characters',
    (length) => {
      const { settings, warnings } = read({ token: 'x'.repeat(length) })
      expect([settings.token, warnings]).toEqual(['x'.repeat(length), []])
    },
  )

  test('the types follow from the declaration', () => {
    const { settings } = read({})
    expectTypeOf(settings).toEqualTypeOf<ModuleValues<typeof mail>>()
    expectTypeOf(settings.sender).toEqualTypeOf<string>()
    expectTypeOf(settings.enabled).toEqualTypeOf<boolean>()
    expectTypeOf(settings.retries).toEqualTypeOf<number>()
    expectTypeOf(settings.port).toEqualTypeOf<number | null>()
    expectTypeOf(settings.timeout).toEqualTypeOf<number>()
    expectTypeOf(settings.mode).toEqualTypeOf<'smtp' | 'api' | null>()
    expectTypeOf(settings.format).toEqualTypeOf<'html' | 'text'>()
    const [hook] = settings.hooks
    if (hook === undefined) return
    expectTypeOf(hook.slug).toEqualTypeOf<string>()
    expectTypeOf(hook.url).toEqualTypeOf<string>()
    expectTypeOf(hook.kind).toEqualTypeOf<'open' | 'signed' | null>()
    expectTypeOf(hook.every).toEqualTypeOf<number | null>()
    // @ts-expect-error nobody declared it
    expect(settings.nope).toBeUndefined()
  })
})
