import { describe, expect, test } from 'vitest'
import type { FieldDeclaration } from '../../../src/engine/configuration/config-declaration.js'
import { type ConfigPatch, planPatch } from '../../../src/engine/configuration/config-patch.js'
import { checkValues } from '../../../src/engine/configuration/module-values.js'
import { deepFreeze, environment, mailFields } from './mail-module.js'

function check(
  patch: ConfigPatch,
  stored: Readonly<Record<string, string>> = {},
  declarations: readonly FieldDeclaration[] = mailFields,
) {
  const state = environment(stored)
  const plan = planPatch(state, deepFreeze(patch), declarations)
  if (plan.kind === 'refused') throw new Error(plan.refusal.message)
  const before = state.values
  const error = checkValues(deepFreeze({ module: 'mail', declarations, before, ...plan }))
  return error && { field: error.field, code: error.code, message: error.message }
}

const creating = (field: string, slug: string, config: Readonly<Record<string, string>>) => ({
  recordLists: [{ field, create: [slug], remove: [] }],
  config,
})

describe('the text of a key', () => {
  test.each([
    ['retries', 'three', 'mail.value_malformed'],
    ['retries', '-1', 'mail.value_malformed'],
    ['retries', '11', 'mail.value_out_of_range'],
    ['sender', 'a\0b', 'mail.value_malformed'],
    ['sender', '\ud800', 'mail.value_malformed'],
    ['apiKey', 'S3CR3T\u0007', 'mail.value_malformed'],
  ])('%s = %j is refused', (key, text, code) => {
    const error = check({ config: { [key]: text } })
    expect(error).toMatchObject({ field: key, code })
    expect(error?.message).toContain(`"${key}" must`)
    expect(error?.message).not.toContain('S3CR3T')
  })

  test.each([
    { retries: '10', sender: 'x', apiKey: 'line\nbreak' },
    { retries: '', sender: '', apiKey: '' },
  ])('%j is accepted', (config) => {
    expect(check({ config })).toBeNull()
  })

  test('of a sub-field and of a label is judged too', () => {
    const stored = { 'hooks.__items': 'a', 'hooks.a.url': 'u' }
    const judge = (key: string, text: string) => check({ config: { [key]: text } }, stored)
    expect(judge('hooks.a.kind', 'closed')).toMatchObject({
      field: 'hooks.a.kind',
      code: 'mail.value_malformed',
    })
    expect(judge('hooks.a.active', 'yes')).toMatchObject({ field: 'hooks.a.active' })
    expect(judge('hooks.a.__label', 'x'.repeat(201))).toMatchObject({
      code: 'mail.value_out_of_range',
    })
    expect(judge('hooks.a.__label', 'a\nb')).toMatchObject({ field: 'hooks.a.__label' })
    expect(judge('hooks.a.__label', '')).toBeNull()
  })

  test('can have a rule of the module', () => {
    const plan = { values: { retries: '99' }, changed: ['retries'], before: {} }
    const patched = { module: 'mail', declarations: mailFields, ...plan }
    expect(checkValues(patched, () => null)).toBeNull()
    expect(checkValues(patched, () => ({ code: 'odd', problem: 'is odd' }))?.code).toBe('mail.odd')
  })

  test.each(['sender', 'apiKey', 'hooks.a.url', 'hooks.a.__label'])(
    'is no text that was encrypted: %s',
    (key) => {
      const sealed = `enc:v1:k1:${'n'.repeat(16)}:${'c'.repeat(30)}`
      const stored = { 'hooks.__items': 'a', 'hooks.a.url': 'u' }
      expect(check({ config: { [key]: sealed } }, stored)).toMatchObject({
        ...{ field: key, code: 'mail.value_malformed' },
        message: `"${key}" must be the value itself and not its encrypted text.`,
      })
      expect(check({ config: { [key]: 'enc:v1 is how it begins' } }, stored)).toBeNull()
    },
  )

  test('what the patch leaves alone is not judged', () => {
    expect(check({ config: { sender: 'x' } }, { retries: 'damaged' })).toBeNull()
  })
})

describe('a required sub-field', () => {
  const missing = (field: string) => ({ field, code: 'mail.value_required' })

  test('is required of a new element, in the request that creates it', () => {
    expect(check(creating('hooks', 'a', {}))).toMatchObject(missing('hooks.a.url'))
    expect(check(creating('hooks', 'a', { 'hooks.a.url': '' }))).toMatchObject(
      missing('hooks.a.url'),
    )
    expect(check(creating('hooks', 'a', { 'hooks.a.url': 'u' }))).toBeNull()
  })

  test('cannot be cleared, and is not asked for where it is set', () => {
    const stored = { 'hooks.__items': 'a', 'hooks.a.url': 'u' }
    expect(check({ config: { 'hooks.a.url': '' } }, stored)).toMatchObject(missing('hooks.a.url'))
    expect(check({ config: { 'hooks.a.active': 'true' } }, stored)).toBeNull()
  })

  test('counts only where its condition holds', () => {
    const make = (config: Readonly<Record<string, string>>) =>
      check(creating('hooks', 'a', { 'hooks.a.url': 'u', ...config }))
    expect(make({ 'hooks.a.kind': 'open' })).toBeNull()
    expect(make({ 'hooks.a.kind': 'signed' })).toMatchObject(missing('hooks.a.token'))
    expect(make({ 'hooks.a.kind': 'signed', 'hooks.a.token': 't' })).toBeNull()
    const stored = { 'hooks.__items': 'a', 'hooks.a.url': 'u', 'hooks.a.token': '' }
    expect(check({ config: { 'hooks.a.kind': 'signed' } }, stored)).toMatchObject(
      missing('hooks.a.token'),
    )
  })

  test('counts the value of the condition, however it is written', () => {
    const items = [
      { key: 'every', label: 'Every', type: 'FieldDuration' },
      {
        ...({ key: 'why', label: 'Why', type: 'FieldString', required: true } as const),
        condition: { field: 'every', equals: '1m' },
      },
    ] as const
    const declarations = [
      { key: 'jobs', label: 'Jobs', group: 'G', type: 'FieldRecordList', items },
    ] as const
    const judge = (every: string) => {
      const values = { 'jobs.__items': 'a', 'jobs.a.every': every }
      const patched = { values, before: {}, changed: ['jobs.__items', 'jobs.a.every'] }
      return checkValues({ module: 'm', declarations, ...patched })?.field ?? null
    }
    expect(['1m', '60s', '60', '61s', ''].map(judge)).toEqual([
      ...['jobs.a.why', 'jobs.a.why', 'jobs.a.why', null, null],
    ])
  })

  test('takes an encrypted text, opaque as it is, for a value', () => {
    const stored = {
      'hooks.__items': 'a',
      'hooks.a.url': 'u',
      'hooks.a.kind': 'signed',
      'hooks.a.token': 'enc:v1:k:n:c',
    }
    expect(check({ config: { 'hooks.a.__label': 'A' } }, stored)).toBeNull()
  })

  test('has a condition on a switch that was never set: it is off', () => {
    const items = [
      { key: 'tls', label: 'TLS', type: 'FieldBool' },
      {
        key: 'why',
        label: 'Why not',
        type: 'FieldString',
        required: true,
        condition: { field: 'tls', equals: 'false' },
      },
    ] as const
    const fields = [{ key: 'l', label: 'L', type: 'FieldRecordList', group: 'G', items }] as const
    expect(check(creating('l', 'a', {}), {}, fields)).toMatchObject(missing('l.a.why'))
    expect(check(creating('l', 'a', { 'l.a.tls': 'true' }), {}, fields)).toBeNull()
  })

  test('is asked of every element the patch touches', () => {
    const stored = { 'hooks.__items': 'a,b', 'hooks.a.url': 'u', 'hooks.b.url': 'u' }
    const config = { 'hooks.a.active': 'true', 'hooks.b.url': '' }
    expect(check({ config }, stored)).toMatchObject(missing('hooks.b.url'))
  })

  test('is asked of an element of each list, also where two have the same slug', () => {
    const stored = {
      ...{ 'hooks.__items': 'a', 'hooks.a.url': 'u' },
      ...{ 'regions.__items': 'a', 'regions.a.host': 'h' },
    }
    const config = { 'regions.a.host': 'i', 'hooks.a.url': '' }
    expect(check({ config }, stored)).toMatchObject(missing('hooks.a.url'))
    const [sender, apiKey, retries, hooks, regions] = mailFields
    const fields = [sender, apiKey, retries, regions, hooks].filter((one) => one !== undefined)
    expect(check({ config }, stored, fields)).toMatchObject(missing('hooks.a.url'))
  })

  test('is not asked of elements the patch does not touch', () => {
    const stored = { 'hooks.__items': 'old' }
    expect(check({ config: { sender: 'x' } }, stored)).toBeNull()
    expect(check(creating('hooks', 'new', { 'hooks.new.url': 'u' }), stored)).toBeNull()
    const removing = { recordLists: [{ field: 'hooks', create: [], remove: ['old'] }], revision: 7 }
    expect(check(removing, stored)).toBeNull()
  })
})
