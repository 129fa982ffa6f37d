import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { violatedRules } from '../../src/engine/passwords.js'
import { contextWordsOf } from '../../src/setup/surfaces.js'

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

/** The page's table of words, and a deployment with a user that has each of them. */
const deployment = contextWordsOf('Lighthouse Login', [
  { baseUrl: 'https://console.zanzibar.example' },
  { baseUrl: 'https://portal.zanzibar.example' },
])
const contextWords = [...deployment, 'quixotic', 'ada.lovelace@mail.test', 'Countess Augusta']

const violationsOf = (password: string) =>
  violatedRules({
    password,
    minLength: 12,
    isCommon: () => false,
    contextWords,
    blockCommon: true,
    blockContextual: true,
  })

it('the page names where the words come from that no password may be built around', () => {
  const [, section = ''] = pageOf('accounts').split('### Words of the context')
  const [table = ''] = section.split('\n## ')
  for (const source of ['passwordBlockContextual', 'baseUrl', 'issuer', 'passwordContextWords']) {
    expect(table).toContain(`\`${source}\``)
  }
  for (const word of [
    'lovelace',
    'countess',
    'console',
    'portal',
    'zanzibar',
    'lighthouse',
    'quixotic',
  ]) {
    expect(violationsOf(`${word}-93vt-t`), word).toContain('contextual')
    expect(violationsOf(`${word} and 14 more letters`), word).toEqual([])
  }
  expect(violationsOf('ada.lovelace and 14 more letters')).toEqual(['contextual'])
  // Neither the last name of the host nor a short word.
  expect(violationsOf('example-93vtk')).toEqual([])
})

it('the pages have every rule by which settings are refused together', () => {
  const codes = new Set(
    globSync('src/settings/*.ts').flatMap(
      (path) => readFileSync(path, 'utf8').match(/(?<=')auth\.[a-z]\w*_\w+(?=')/g) ?? [],
    ),
  )
  expect(codes.size).toBeGreaterThan(4)
  const [, refused = ''] = pageOf('settings').split('## What is refused')
  for (const code of codes) expect(refused).toContain(`\n| \`${code}\` | `)
})

it('the page says what becomes of sessions when a provider is switched off, or signed out of', () => {
  const [, section = ''] = pageOf('oauth').split('### Sessions here and at the provider')
  const text = section.split('\n##')[0]?.replaceAll(/\s+/g, ' ')
  expect(text).toContain('Signing out here ends nothing at the provider')
  expect(text).toContain('Sessions that it opened go on.')
  expect(text).toContain('terminateSessionsOf')
})
