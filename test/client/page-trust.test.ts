import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.js'
import { base, json, refusal, scriptedPage, tokenOf, user } from './scripted-page.js'

const root = new URL('../../', import.meta.url)

/** The code of pages, without its comments. */
const code = new Map(
  globSync(['src/client/**/*.ts', 'src/react/**/*.{ts,tsx}'], { cwd: root }).map((path) => [
    path.replaceAll('\\', '/'),
    readFileSync(new URL(path, root), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/ .*$/gm, ''),
  ]),
)
const filesWith = (pattern: RegExp): readonly string[] =>
  [...code].flatMap(([path, text]) => (pattern.test(text) ? [path] : []))

async function signedIn() {
  const page = scriptedPage()
  const client = createClient({
    surface: 'client',
    baseUrl: 'https://api.example.com',
    environment: page.environment,
  })
  const grant = { accessToken: tokenOf(user.id), tokenType: 'Bearer', expiresIn: 900, user }
  page.expects(['GET /session', refusal(401)], ['POST /login', json(200, grant)])
  await client.call('POST /login', { email: user.email, password: 'correct horse battery staple' })
  expect(client.get()).toMatchObject({ status: 'signedIn' })
  return { page, client }
}

describe('what a page is trusted with', () => {
  it('neither storage nor other tabs get a token, a user or an address', async () => {
    const { page } = await signedIn()
    expect([...page.stored.keys()]).toEqual([`postern:${base}`])
    expect([...page.stored.values()].join()).toMatch(/^\d+,\d+,\d+$/)
    expect(page.told.length).toBeGreaterThan(0)
    for (const said of page.told)
      expect(Object.keys(Object(said))).toEqual(['v', 'surface', 'kind'])
  })

  it('a message of another form changes nothing and asks nothing', async () => {
    const { page, client } = await signedIn()
    const before = client.get()
    const sent = page.seen.length
    for (const data of [null, 'session', [], { kind: 'session' }, { v: 99, kind: 'session' }]) {
      page.hear(data)
    }
    page.hear({ v: 1, surface: 'operator', kind: 'session' })
    await page.clock.advance(1000)
    expect(page.seen.length).toBe(sent)
    expect(client.get()).toEqual(before)
  })

  it('the client listens to its own channel alone, and to no window', () => {
    expect(filesWith(/\bonmessage\b/)).toEqual([
      'src/client/client-environment.ts',
      'src/client/page-session.ts',
    ])
    expect(filesWith(/addEventListener\(\s*['"`]message/)).toEqual([])
  })

  it('no code asks the document for a name, so elements cannot stand in for values', () => {
    expect(code.size).toBeGreaterThan(20)
    expect(filesWith(/\b(?:document|window|self)\s*(?:\.|\[|\?\.)/)).toEqual([])
    expect(filesWith(/\bglobalThis\b/)).toEqual(['src/client/browser-environment.ts'])
  })
})
