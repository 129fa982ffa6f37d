import { describe, expect, test } from 'vitest'
import { authSettingDeclarations, readAuthSettings } from '../../src/settings/settings.js'
import { readings } from './readings.js'

type Texts = Readonly<Record<string, string>>

const read = (values: Texts) => readAuthSettings(values, {})
const absent = Object.fromEntries(readings.map((row) => [row.key, row.absent]))

test('the table has a row for each of the 63 settings, in their order', () => {
  expect(readings.map(({ key }) => key)).toEqual(authSettingDeclarations.map(({ key }) => key))
})

test('each plain setting has a text in its range, one out of it and a damaged one', () => {
  const few = readings.filter(({ stored, absent }) => stored.length < 3 && !Array.isArray(absent))
  expect(few).toEqual([])
})

describe.each(readings)('$key', ({ key, empty, stored }) => {
  test('cleared', () => {
    const text = { [Array.isArray(empty) ? `${key}.__items` : key]: '' }
    expect(read(text)).toEqual({ settings: { ...absent, [key]: empty }, warnings: [] })
  })

  test.each(stored)('stored as $stored', ({ stored: text, reads, warning }) => {
    const { settings, warnings } = read({ [key]: text })
    expect(settings).toEqual({ ...absent, [key]: reads })
    const told = expect.stringMatching(`^Setting "${key}" ${warning}`)
    expect(warnings).toEqual(warning === null ? [] : [told])
  })
})

const domain = { slug: 'a', label: 'a', domain: 'a.example', includeSubdomains: false }
const noDomain = { ...domain, domain: '', surface: 'both' }
const target = { slug: 'a', label: 'a', uri: 'https://a.example/', surface: 'client', flow: 'web' }
const hook = {
  slug: 'a',
  label: 'a',
  url: 'https://a.example/',
  signingSecret: 's'.repeat(32),
  events: 'all',
}
const many = Array.from({ length: 51 }, (_, index) => `d${index}`)

/** Lists: what is stored below `<key>.`, what it reads as, and how many warnings there are. */
const lists: readonly (readonly [key: string, stored: Texts, reads: unknown, told: number])[] = [
  [
    'registrationAllowedDomains',
    element({ domain: 'A.example', surface: 'both' }),
    [{ ...domain, surface: 'both' }],
    0,
  ],
  ['registrationAllowedDomains', element({ domain: 'a.example', surface: 'all' }), [noDomain], 1],
  ['registrationAllowedDomains', element({ domain: 'a.example' }), [noDomain], 1],
  ['registrationAllowedDomains', element({ domain: '', surface: 'client' }), [noDomain], 1],
  ['registrationAllowedDomains', element({}), [noDomain], 1],
  [
    'registrationAllowedDomains',
    { __items: many.join() },
    many.map((slug) => ({ ...noDomain, slug, label: slug })),
    51,
  ],
  ['registrationAllowedDomains', { 'a.domain': 'a.example', 'a.surface': 'both' }, [], 0],
  ['oauthRedirectTargets', element({ ...target, appId: 'x' }), [{ ...target, appId: '' }], 0],
  ['oauthRedirectTargets', element({ ...target, surface: 'both' }), [], 1],
  ['oauthRedirectTargets', element({ ...target, flow: 'desktop' }), [], 1],
  ['oauthRedirectTargets', element({ ...target, flow: 'mobile' }), [], 1],
  ['oauthRedirectTargets', element({ ...target, uri: '' }), [], 1],
  [
    'oauthRedirectTargets',
    element({ ...target, uri: 'damaged' }),
    [{ ...target, uri: 'damaged', appId: '' }],
    0,
  ],
  ['oauthRedirectTargets', element({}), [], 1],
  ['securityWebhooks', element(hook), [{ ...hook, previousSigningSecret: '' }], 0],
  ['securityWebhooks', element({ ...hook, events: 'some' }), [], 1],
  ['securityWebhooks', element({ ...hook, signingSecret: '' }), [], 1],
  ['securityWebhooks', element({ ...hook, url: '' }), [], 1],
  ['securityWebhooks', element({}), [], 1],
]

describe('record lists', () => {
  test.each(lists)('%s stored as %j', (key, stored, reads, told) => {
    const texts = Object.entries(stored).map(([name, text]) => [`${key}.${name}`, text])
    const { settings, warnings } = read(Object.fromEntries(texts))
    expect(settings).toEqual({ ...absent, [key]: reads })
    expect(warnings).toHaveLength(told)
  })
})

/** The keys of a list with the one element `a`. */
function element(members: Texts): Texts {
  const own = Object.entries(members).filter(([name]) => name !== 'slug' && name !== 'label')
  return Object.fromEntries([['__items', 'a'], ...own.map(([name, text]) => [`a.${name}`, text])])
}
